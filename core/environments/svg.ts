/** A comment, processing instruction or CDATA section, a tag with its attributes, or text. */
const PIECE =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|<(?<end>\/?)(?<name>[A-Za-z_][\w:.-]*)(?<attributes>(?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(?<empty>\/?)>|(?<words>[^<]+)/y;
const ATTRIBUTE = /([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/**
 * An `&` that starts no character reference and none of the five entities that XML predefines. Without a document type,
 * no other entities exist.
 */
const BARE_AMPERSAND = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/i;
const NAMESPACE = 'http://www.w3.org/2000/svg';
const MAX_SHOWN = 40;

/** The reason why an image is invalid. The message continues a sentence that begins with the name of the field. */
class SvgProblem extends Error {}

/**
 * Checks that browsers can show an SVG image: it is well-formed XML, with declared prefixes, and its only root is in
 * the namespace of SVG. Takes time proportional to the length.
 *
 * @param text an image without a document type
 * @returns what is wrong with it, to follow the name of the field
 */
export function malformedSvg(text: string): string | undefined {
  try {
    new SvgReader().read(text);
    return undefined;
  } catch (error) {
    if (error instanceof SvgProblem) return error.message;
    throw error;
  }
}

class SvgReader {
  readonly #open: string[] = [];
  readonly #declared = new Set(['xml', 'xmlns']);
  readonly #used = new Set<string>();
  #hasRoot = false;

  read(text: string): void {
    const piece = new RegExp(PIECE);
    piece.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
    while (piece.lastIndex < text.length) {
      const at = piece.lastIndex;
      const groups = piece.exec(text)?.groups;
      if (!groups) throw new SvgProblem(`is not well-formed XML at "${shown(text.slice(at))}"`);
      this.#take(groups);
    }
    const last = this.#open.at(-1);
    if (last !== undefined) throw new SvgProblem(`is not well-formed XML: <${shown(last)}> is not closed`);
    const unknown = [...this.#used].find((prefix) => !this.#declared.has(prefix));
    if (unknown !== undefined) throw new SvgProblem(`must declare xmlns:${shown(unknown)}, because it uses the prefix`);
  }

  #take({ name, end, empty, attributes, words }: Record<string, string | undefined>): void {
    if (BARE_AMPERSAND.test(words ?? attributes ?? '')) throw new SvgProblem('must write & as &amp;');
    if (words !== undefined && this.#open.length === 0 && words.trim() !== '')
      throw new SvgProblem('must have no text outside of its <svg> element');
    if (name === undefined) return;
    if (end) this.#close(name);
    else {
      this.#begin(name, attributes ?? '');
      if (!empty) this.#open.push(name);
    }
  }

  #close(name: string): void {
    const opened = this.#open.pop();
    if (opened === name) return;
    const expected = opened === undefined ? 'nothing is open' : `<${shown(opened)}> is open`;
    throw new SvgProblem(`is not well-formed XML: found </${shown(name)}> where ${expected}`);
  }

  #begin(name: string, text: string): void {
    const attributes = new Map<string, string>();
    for (const [, key = '', double, single = ''] of text.matchAll(ATTRIBUTE)) {
      if (attributes.has(key)) throw new SvgProblem(`is not well-formed XML: <${shown(name)}> has ${shown(key)} twice`);
      attributes.set(key, double ?? single);
    }
    for (const qualified of [name, ...attributes.keys()]) {
      const [prefix = '', local] = qualified.split(':');
      if (local !== undefined) prefix === 'xmlns' ? this.#declared.add(local) : this.#used.add(prefix);
    }
    if (this.#open.length > 0) return;
    if (this.#hasRoot) throw new SvgProblem('must have exactly one root element, <svg>');
    this.#hasRoot = true;
    if (attributes.get('xmlns') !== NAMESPACE) throw new SvgProblem(`must begin with <svg xmlns="${NAMESPACE}">`);
  }
}

function shown(text: string): string {
  return text.slice(0, MAX_SHOWN).toWellFormed();
}
