import { createRequire } from 'node:module';
import type { Parser } from 'htmlparser2';

type Attributes = Readonly<Record<string, string>>;
type Wrap = (text: string, attributes: Attributes) => string;

const require = createRequire(import.meta.url);
/** Elements nested deeper than this are not written as Markdown; only their text is kept. */
const MAX_LEVELS = 100;
/**
 * HTML nested deeper than this is not converted, because the parser searches all open elements at each end tag, which
 * takes quadratic time.
 */
const MAX_OPEN = 1_000;
/** Lists and quotes nested deeper than this are not indented, because each level lengthens every line. */
const MAX_INDENTS = 8;
/** Replaces a line break within code until the other white space is reduced. Removed from the texts of the HTML. */
const CODE_BREAK = '\u0001';
/** Marks the end of a table cell. Removed from the texts of the HTML. */
const CELL_END = '\u0002';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the two marks are control characters
const MARKS = /[\u0001\u0002]/g;
/**
 * The allowed first numbers of an ordered list; a list with any other number begins with 1. A long number is not
 * allowed, because the lines of an item are indented by its length.
 */
const LIST_NUMBER = /^\d{1,4}$/;
const HIDDEN = new Set(['script', 'style', 'template', 'head', 'noscript', 'svg']);
const TABLE_PARTS = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr']);
const BLOCKS = new Set(['p', 'div', 'section', 'article', 'header', 'footer', 'figure', 'dl', 'dt', 'dd', 'body']);

const around =
  (mark: string): Wrap =>
  (text) => {
    const inner = text.trim();
    if (inner === '') return text;
    return text.replace(inner, () => `${mark}${inner}${mark}`);
  };

/** How inline elements are written in Markdown. */
const INLINE: Readonly<Record<string, Wrap>> = {
  strong: around('**'),
  b: around('**'),
  em: around('_'),
  i: around('_'),
  del: around('~~'),
  s: around('~~'),
  a: (text, { href }) => (href && text.trim() !== '' ? `[${text.trim()}](${target(href)})` : text),
  img: (_text, { src, alt = '' }) => (src && !src.startsWith('data:') ? `![${alt}](${target(src)})` : alt),
  br: () => '\n',
  code: (text) => (text.trim() === '' ? text : fenced(text.trim())),
};

/** An element that is open, with the Markdown of its content so far. */
interface Open {
  name: string;
  attributes: Attributes;
  parts: string[];
  /** Of a list: the number of its next item. */
  next: number;
  /** Of a table: its rows. */
  rows: string[][];
  isPreformatted: boolean;
  /** The number of list items and quotes that contain its content, including the element itself. */
  indents: number;
}

/**
 * Converts HTML to Markdown for a model: for example headings, lists, tables, links, pictures, code and emphasis.
 * Scripts, styles and other hidden elements are removed, and all other elements are reduced to their text. Characters
 * with a meaning in Markdown are not escaped, except `|` in tables. HTML that is nested deeper than a thousand elements
 * is returned unchanged.
 *
 * @param html from a third party; need not be well-formed
 */
export function htmlToMarkdown(html: string): string {
  const { Parser: Reader } = require('htmlparser2') as { Parser: typeof Parser };
  const root: Open = { ...EMPTY, name: 'body', parts: [], rows: [] };
  const stack = [root];
  let hidden = 0;
  let skipped = 0;
  let isTooDeep = false;
  const top = () => stack.at(-1) as Open;

  const reader = new Reader(
    {
      onopentag(name, attributes) {
        if (stack.length + hidden + skipped > MAX_OPEN) {
          isTooDeep = true;
          reader.pause();
        }
        if (hidden > 0 || HIDDEN.has(name)) hidden++;
        else if (stack.length > MAX_LEVELS) skipped++;
        else stack.push(open(name, attributes, top()));
      },
      ontext(text) {
        if (hidden > 0) return;
        const plain = text.replace(MARKS, '');
        top().parts.push(top().isPreformatted ? plain : plain.replace(/\s+/g, ' '));
      },
      onclosetag() {
        if (hidden > 0) hidden--;
        else if (skipped > 0) skipped--;
        else if (stack.length > 1) close(stack.pop() as Open, top());
      },
    },
    { recognizeCDATA: true },
  );
  reader.end(html);
  if (isTooDeep) return html;
  return tidy(root.parts.join('').replaceAll(CELL_END, ' ')).replaceAll(CODE_BREAK, '\n');
}

const EMPTY = { attributes: {}, next: 1, isPreformatted: false, indents: 0 };

function open(name: string, attributes: Attributes, around: Open): Open {
  const start = name === 'ol' ? attributes['start'] : undefined;
  return {
    name,
    attributes,
    parts: [],
    rows: [],
    next: start !== undefined && LIST_NUMBER.test(start) ? Number(start) : 1,
    isPreformatted: around.isPreformatted || name === 'pre',
    indents: around.indents + (name === 'li' || name === 'blockquote' ? 1 : 0),
  };
}

/** Adds a closed element to its parent, as Markdown. */
function close(element: Open, parent: Open): void {
  const { name, attributes, parts } = element;
  const text = parts.join('');
  const heading = /^h([1-6])$/.exec(name);
  if (name === 'td' || name === 'th') parent.parts.push(cell(text) + CELL_END);
  else if (TABLE_PARTS.has(name)) closeTablePart(element, text, parent);
  else if (heading) parent.parts.push(block(text.trim() && `${'#'.repeat(Number(heading[1]))} ${oneLine(text)}`));
  else if (name === 'pre') parent.parts.push(block(codeBlock(text)));
  else if (name === 'li') parent.parts.push(item(element, text, parent));
  else if (name === 'ul' || name === 'ol') parent.parts.push(parent.name === 'li' ? `\n${text}` : block(text));
  else if (name === 'blockquote') parent.parts.push(block(quote(element, text)));
  else if (name === 'hr') parent.parts.push(block('---'));
  else if (BLOCKS.has(name)) parent.parts.push(block(text));
  else if (element.isPreformatted) parent.parts.push(name === 'br' ? '\n' : text);
  else parent.parts.push((INLINE[name] ?? ((inner) => inner))(text, attributes));
}

/**
 * Adds a closed part of a table to its parent: as rows if the parent is also a part of the table, otherwise as a whole
 * table in Markdown. Other text, such as a caption, is added before the table.
 */
function closeTablePart({ name, rows }: Open, text: string, parent: Open): void {
  const cells = name === 'tr' ? text.split(CELL_END) : [text];
  const other = cells.pop() ?? '';
  const all = name === 'tr' && cells.length > 0 ? [cells] : rows;
  parent.parts.push(block(other));
  if (name !== 'table' && TABLE_PARTS.has(parent.name)) for (const row of all) parent.rows.push(row);
  else parent.parts.push(block(table(all)));
}

function block(text: string): string {
  return text.trim() === '' ? '' : `\n\n${text}\n\n`;
}

function item({ indents }: Open, text: string, list: Open): string {
  const mark = list.name === 'ol' ? `${list.next++}.` : '-';
  return `${mark} ${indented(text, ' '.repeat(mark.length + 1), indents)}\n`;
}

function quote({ indents }: Open, text: string): string {
  return `> ${indented(text, '> ', indents)}`;
}

function indented(text: string, by: string, indents: number): string {
  if (indents > MAX_INDENTS) return text.trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: line breaks of code are indented too
  return tidy(text).replace(/[\n\u0001]/g, `$&${by}`);
}

function table(rows: readonly string[][]): string {
  const [head, ...others] = rows.filter((row) => row.length > 0);
  if (head === undefined) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...others.map(line)].join('\n');
}

function cell(text: string): string {
  return oneLine(text.replaceAll(CODE_BREAK, ' ').replaceAll(CELL_END, ' ')).replaceAll('|', '\\|');
}

function codeBlock(text: string): string {
  const code = text.replace(/^\n/, '').trimEnd();
  const fence = code.includes('```') ? '~~~~' : '```';
  return code && [fence, ...code.split('\n'), fence].join(CODE_BREAK);
}

function fenced(code: string): string {
  return code.includes('`') ? `\`\` ${code} \`\`` : `\`${code}\``;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/**
 * Puts an address in angle brackets if it contains white space, parentheses or angle brackets, which would end the
 * link. White space and angle brackets are also percent-encoded.
 */
function target(address: string): string {
  return /[\s()<>]/.test(address) ? `<${address.replace(/[\s<>]/g, encodeURIComponent)}>` : address;
}

/** Removes blanks at the ends of lines, second empty lines in a row, and white space around the text; keeps code. */
function tidy(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
