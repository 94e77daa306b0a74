const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
/** The position of the seconds in an RFC 3339 time. */
const SECONDS = '2026-01-01T00:00:'.length;
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

let lastDay = Number.NaN;
let lastDate = '';

/**
 * Returns a time in the format of RFC 3339 §5.6, in UTC. The result is that of `Date.toISOString`, but four times as
 * fast, because the date is cached: most of the hundred times in a page of accounts are on the same day.
 *
 * @param ms milliseconds UTC, a whole number
 */
export function rfc3339(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  if (day !== lastDay) {
    lastDate = new Date(day * DAY_MS).toISOString().split('T', 1)[0] as string;
    lastDay = day;
  }
  const rest = ms - day * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${lastDate}T${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${THREE[rest % 1000]}Z`;
}

/**
 * Returns the time of a text in the format of RFC 3339 §5.6, in milliseconds UTC. A leap second counts as the second
 * after it, because `Date` has no leap seconds. Returns NaN for a text that is not a time, and undefined for undefined.
 */
export function timeOf(text: string): number;
export function timeOf(text: string | undefined): number | undefined;
export function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const isLeap = text.slice(SECONDS, SECONDS + 2) === '60';
  if (!isLeap) return Date.parse(text);
  return Date.parse(`${text.slice(0, SECONDS)}59${text.slice(SECONDS + 2)}`) + 1000;
}
