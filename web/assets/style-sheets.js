// The reference viewer adds its styles as <style> elements, which the content security policy blocks. This script
// copies their text to adopted style sheets of the document, which the policy allows. It must be loaded before the
// viewer.
const adopted = new WeakMap();

function replace(element, text) {
  let entry = adopted.get(element);
  if (!entry) {
    entry = { text: '', sheet: new CSSStyleSheet() };
    adopted.set(element, entry);
    document.adoptedStyleSheets.push(entry.sheet);
  }
  entry.text = text;
  entry.sheet.replaceSync(text);
}

const textOf = (element) => adopted.get(element)?.text ?? '';

for (const name of ['textContent', 'innerHTML', 'innerText']) {
  Object.defineProperty(HTMLStyleElement.prototype, name, {
    get() {
      return textOf(this);
    },
    set(text) {
      replace(this, String(text ?? ''));
    },
  });
}
for (const name of ['append', 'appendChild']) {
  HTMLStyleElement.prototype[name] = function (...nodes) {
    replace(this, textOf(this) + nodes.map((node) => node.textContent ?? String(node)).join(''));
    return nodes[0];
  };
}
