const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

let lastDay = Number.NaN;
let lastDate = '';

/**
 * A time as RFC 3339 §5.6 writes it, in UTC: the text of `Date.toISOString`, in a quarter of its time. A page of accounts has a hundred
 * of them, and most of those are of the same day.
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
