import { eastAsianWidth } from 'get-east-asian-width';
import { escapeControls } from '../../core/text/escape-controls.ts';
import { style } from './print.ts';

const GAP = '  ';
/** A cell is never cut to fewer columns than this. */
const MIN_WIDTH = 12;
/** An id of the API, or of a key. */
const ID = /^[a-z]{2,6}_[0-9a-z]{16,26}$/;
const NARROW = /^\p{Emoji_Presentation}/u;

/** States that are shown in a colour on a terminal. */
const COLOURS: Readonly<Record<string, 'green' | 'yellow' | 'red'>> = {
  ...Object.fromEntries(
    ['ACTIVE', 'SUCCEEDED', 'COMPLETED', 'DELIVERED', 'READY', 'ok', 'OK', 'ready'].map((s) => [s, 'green']),
  ),
  ...Object.fromEntries(
    ['EXPIRED', 'FAILED', 'DISCONNECTED', 'fail', 'failing', 'differs', 'DIFFERS'].map((s) => [s, 'red']),
  ),
};

/** The headings of a table, and how a row is shown under each. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/**
 * Formats rows under headings. On a terminal, the widest cells are cut so that a row fits into a line. Ids are cut only
 * if the row does not fit otherwise, because they are arguments of other commands. Elsewhere nothing is cut.
 *
 * @param width the columns of the terminal; undefined or 0 if unknown
 */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[], width = process.stdout.columns): string {
  const heads = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((show) => escapeControls(textOf(show(row)))));
  const widthsOf = (keep: (cell: string) => boolean) =>
    heads.map((_, column) =>
      Math.max(
        0,
        ...cells
          .map((row) => row[column] ?? '')
          .filter(keep)
          .map(widthOf),
      ),
    );
  const full = widthsOf(() => true).map((cell, column) => Math.max(cell, widthOf(heads[column] ?? '')));
  const narrow = heads.map(() => MIN_WIDTH);
  const withIds = widthsOf((cell) => ID.test(cell)).map((id) => Math.max(id, MIN_WIDTH));
  const room = (width || Number.POSITIVE_INFINITY) - GAP.length * (heads.length - 1);
  const widths = fitInto(full, room, sum(withIds) <= room ? withIds : narrow);
  const lineOf = (row: readonly string[], paint: (text: string) => string) =>
    row
      .map((text, column) => {
        const cut = shorten(text, widths[column] ?? 0);
        return paint(cut) + (column < row.length - 1 ? ' '.repeat((widths[column] ?? 0) - widthOf(cut)) : '');
      })
      .join(GAP);
  return [lineOf(heads, (head) => style('bold', head)), ...cells.map((row) => lineOf(row, paintState))].join('\n');
}

/** Formats the fields of one object, one line for each. */
export function fields(entries: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(entries);
  const width = Math.max(...names.map(widthOf));
  return names
    .map((name) => `${style('bold', name.padEnd(width))}${GAP}${paintState(escapeControls(textOf(entries[name])))}`)
    .join('\n');
}

/** Returns how many columns a text takes on a terminal. A grapheme takes as many as its widest character. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const wide = [...segment].some((character) => eastAsianWidth(character.codePointAt(0) as number) === 2);
    width += wide || NARROW.test(segment) ? 2 : /^\p{Mn}+$/u.test(segment) ? 0 : 1;
  }
  return width;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function paintState(text: string): string {
  const colour = Object.hasOwn(COLOURS, text) ? COLOURS[text] : undefined;
  return colour === undefined ? text : style(colour, text);
}

/** Takes columns from the widest cells until the row fits, or no cell is wider than its minimum. */
function fitInto(widths: readonly number[], room: number, least: readonly number[]): number[] {
  const fitted = [...widths];
  while (sum(fitted) > room) {
    const spare = fitted.map((width, column) => (width > (least[column] ?? 0) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    fitted[spare.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(cut + segment) > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}
