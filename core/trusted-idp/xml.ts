/** An element with its text or its children. Attributes and namespaces are not kept. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/** The maximum length, in characters. */
const MAX_LENGTH = 64 * 1024;
const MAX_DEPTH = 16;

const DECLARATION = /\s*(?:<\?xml\s[^<>?]{0,200}\?>)?\s*/y;
const OPENING = /<([A-Za-z_][\w.-]*)(?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>/y;
const CLOSING = /<\/([A-Za-z_][\w.-]*)\s*>/y;
const TEXT = /[^<]*/y;

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Parses a simple XML response: elements that contain either text or elements. Document types are not supported, so the
 * only entities are the five of XML itself, and nothing is fetched or expanded (XML 1.0 §4.6). Comments, CDATA,
 * processing instructions, prefixes and mixed content are rejected, because the expected responses have none.
 *
 * @returns undefined for anything else
 */
export function readXml(text: string): XmlElement | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const document: XmlElement = { name: '', text: '', children: [] };
  const open = [document];
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };

  next(DECLARATION);
  while (at < text.length) {
    const inside = open.at(-1) as XmlElement;
    const opening = next(OPENING);
    const closing = opening ? null : next(CLOSING);
    if (opening) {
      const element: XmlElement = { name: opening[1] as string, text: '', children: [] };
      inside.children.push(element);
      if (opening[2] !== '/') open.push(element);
      if (open.length > MAX_DEPTH) return undefined;
    } else if (closing) {
      if (inside === document || closing[1] !== inside.name || isMixed(inside)) return undefined;
      open.pop();
    } else {
      const characters = decoded(next(TEXT)?.[0] ?? '');
      // Reject an unknown entity, and a `<` that does not begin a tag.
      if (characters === undefined || characters === '') return undefined;
      inside.text += characters;
    }
  }
  const [root, ...more] = document.children;
  return open.length === 1 && more.length === 0 && !isMixed(document) ? root : undefined;
}

function isMixed({ text, children }: XmlElement): boolean {
  return children.length > 0 && text.trim() !== '';
}

/**
 * Returns the text of the element at the end of a path of element names. It is undefined if an element on the path is
 * missing or repeated, or if the last element contains elements.
 */
export function textAt(element: XmlElement | undefined, ...path: string[]): string | undefined {
  let found = element;
  for (const name of path) {
    const [only, ...more] = found?.children.filter((child) => child.name === name) ?? [];
    if (more.length > 0) return undefined;
    found = only;
  }
  return found !== undefined && found.children.length === 0 ? found.text : undefined;
}

function decoded(text: string): string | undefined {
  let known = true;
  const result = text.replace(/&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(\w{1,8}));|&/g, (_all, decimal, hex, name) => {
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : undefined;
    const character = code === undefined ? ENTITIES[name ?? ''] : characterOf(code);
    if (character === undefined) known = false;
    return character ?? '';
  });
  return known ? result : undefined;
}

/** The characters that XML 1.0 §2.2 allows. */
function characterOf(code: number): string | undefined {
  const isCharacter =
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0x10ffff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
}
