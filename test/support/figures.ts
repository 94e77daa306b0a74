import * as budgets from '../../core/budgets.ts';

/** A figure of a page that is marked with the constant it states: `256 KiB<!--REQUEST_BODY.bytes-->`. */
export interface MarkedFigure {
  /** The text on the page. */
  text: string;
  /** The value in the unit of the constant: bytes, milliseconds or a count. */
  value: number;
  /** The name of the constant, `GROUP.name`. */
  name: string;
}

const BYTES: Record<string, number> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const SECOND = 1000;
const TIMES: Record<string, number> = {
  ms: 1,
  s: SECOND,
  second: SECOND,
  minute: 60 * SECOND,
  hour: 3_600 * SECOND,
  day: 86_400 * SECOND,
};
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const NUMBER = `\\d[\\d,]*(?:\\.\\d+)?|\\b(?:an?|${WORDS.join('|')})\\b`;
const UNIT = `bytes|[KMG]iB|ms|s|(?:second|minute|hour|day)s?`;

const MARK = /<!--([A-Z][A-Z_]*\.\w+)-->/;
const FIGURE = new RegExp(`(?:(${NUMBER})(?:\\s(${UNIT}))?)?${MARK.source}`, 'g');
const WITH_UNIT = new RegExp(`(?:${NUMBER})\\s(?:${UNIT})\\b`, 'g');

/**
 * Returns every marked figure of a Markdown text. @throws Error for a mark that does not follow a figure of its kind
 */
export function markedFigures(markdown: string): MarkedFigure[] {
  return [...markdown.matchAll(FIGURE)].map(([text, number, unit, name = '']) => {
    if (number === undefined) throw new Error(`${text} does not follow a figure`);
    return { text, value: parseNumber(number) * factorOf(name, unit), name };
  });
}

/** Returns the figures with a unit that are not marked. */
export function unmarkedFigures(markdown: string): string[] {
  const rest = markdown.replaceAll(FIGURE, '');
  return [...rest.matchAll(WITH_UNIT)].map(([text]) => text);
}

/** Returns the value of a constant, named `GROUP.name`. @throws Error if core/budgets.ts does not have it */
export function constantOf(name: string): number {
  const [group = '', member = ''] = name.split('.');
  const value = (budgets as Record<string, Record<string, unknown>>)[group]?.[member];
  if (typeof value !== 'number') throw new Error(`core/budgets.ts has no ${name}`);
  return value;
}

function parseNumber(text: string): number {
  const word = text.toLowerCase();
  if (word === 'a' || word === 'an') return 1;
  return WORDS.includes(word) ? WORDS.indexOf(word) : Number(text.replaceAll(',', ''));
}

/**
 * Returns the factor from the unit of a figure to the unit in the name of its constant: bytes or milliseconds.
 *
 * @throws Error if the two units are of different kinds
 */
function factorOf(name: string, unit: string | undefined): number {
  const units = /bytes$/i.test(name) ? BYTES : /Ms$/.test(name) ? TIMES : null;
  if (units === null && unit === undefined) return 1;
  const factor = unit === undefined ? undefined : (units?.[unit] ?? units?.[unit.replace(/s$/, '')]);
  if (factor === undefined) throw new Error(`${name} cannot be stated in ${unit ?? 'a number without a unit'}`);
  return factor;
}
