// The menus of BertViz's page: of layers, those of the attention that is chosen. BertViz offers one stack's for all, and stumbles
// over one that is not there. This hears of a choice before BertViz does, and tells it another layer as if a visitor had chosen that.
(() => {
  const layers = /** @type {HTMLSelectElement} */ (document.getElementById("layer"));
  const attentions = /** @type {HTMLSelectElement} */ (document.getElementById("filter"));
  const offer = () => {
    const there = layersOf[attentions.value];
    for (const option of layers.options) option.hidden = option.disabled = !there.includes(Number(option.value));
    if (there.includes(Number(layers.value))) return;
    layers.value = String(there.at(-1));
    layers.dispatchEvent(new Event("change"));
  };
  attentions.addEventListener("change", offer, true);
  offer();
})();
