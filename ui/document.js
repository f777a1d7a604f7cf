// What the document gets once. It stays there, while the element that brings it leaves with its container (a toast is enough).
// `rules`, the style, stands above this file.

export default () => {
  if (document.getElementById("headlight-style")) return;
  const style = Object.assign(document.createElement("style"), { id: "headlight-style", textContent: rules });
  document.head.append(style);
  keepOneEntryAPage();
  goBackByTheMenu();
  closeTheMenuOnPhones();
  nameTheSections();
};

// Streamlit adds an entry to the browser's history for each change of the address, so that Back would take several presses a page.
function keepOneEntryAPage() {
  const push = history.pushState;
  history.pushState = (state, title, url) => {
    const same = new URL(url ?? location.href, location.href).pathname === location.pathname;
    (same ? history.replaceState : push).call(history, state, title, url);
  };
}

const linkTo = (path) =>
  [...document.querySelectorAll("[data-testid=stSidebarNavLink]")].find((link) => new URL(link.href).pathname === path);

// Back and forward are a press on that page in the menu: what was typed stays. Streamlit would bring back what the address said then.
function goBackByTheMenu() {
  const follow = (event) => {
    const link = linkTo(location.pathname);
    if (!link) return;
    event.stopImmediatePropagation();
    link.click();
  };
  addEventListener("popstate", follow, true);
}

// On a phone the menu lies over the page that was chosen in it.
function closeTheMenuOnPhones() {
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest?.("[data-testid=stSidebarNavLink]");
    const close = document.querySelector("[data-testid=stSidebarCollapseButton] button");
    if (chosen && close && matchMedia("(max-width: 768px)").matches) setTimeout(() => close.click());
  });
}

// Streamlit puts sections straight into the list of pages, where screen readers look for its items: each is a group with a name.
function nameTheSections() {
  const name = () => {
    for (const section of document.querySelectorAll("[data-testid=stSidebarNavItems] > div:not([role])")) {
      section.parentElement.setAttribute("role", "presentation");
      section.setAttribute("role", "group");
      section.setAttribute("aria-label", section.querySelector("header p")?.textContent ?? "");
    }
    for (const page of document.querySelectorAll("[data-testid=stSidebarNavItems] li:not([role])"))
      page.setAttribute("role", "presentation");
  };
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
}
