// Elements of the page, made in one line.

export function element(tag, className = "", text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

export function makeButton(className, words, act) {
  const node = element("button", className, words);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

// A button that only works its view, so that no picture shows it.
export function makeTool(className, words, act) {
  const node = makeButton(className, words, act);
  node.dataset.take = "no";
  return node;
}

// Words that are written only where they differ: the page is laid out again for each change.
export function write(node, words) {
  if (node.textContent !== words) node.textContent = words;
}
