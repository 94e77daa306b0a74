/** The maximum number of entries that are read; no browser sends as many. */
const MAX_RANGES = 30;
const MAX_LENGTH = 1000;

/**
 * Returns the ranges of an Accept or Accept-Language header, the preferred ones first and without their parameters
 * (RFC 9110 §12.4.2). Ranges with the weight 0 or an invalid weight are left out.
 */
export function acceptedRanges(header = ''): string[] {
  const ranges = header
    .slice(0, MAX_LENGTH)
    .split(',', MAX_RANGES)
    .flatMap((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter));
      const q = weight === undefined ? 1 : Number(weight.slice(2));
      return q > 0 ? [{ range, q }] : [];
    });
  return ranges.sort((a, b) => b.q - a.q).map(({ range }) => range);
}
