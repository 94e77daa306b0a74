import { expect } from 'chai';

/**
 * Compares a response with the shortened form on a page. Objects may have further members, except where the page shows
 * `{}`. Lists have as many items as shown. A `…` in a shown text matches one or more characters, also of a number.
 */
export function expectShown(actual: unknown, shown: unknown, place: string): void {
  if (typeof shown === 'string' && shown.includes('…')) {
    const pattern = shown.split('…').map(RegExp.escape).join('.+');
    expect(String(actual ?? ''), place).to.match(new RegExp(`^${pattern}$`, 's'));
  } else if (Array.isArray(shown)) {
    expect(actual, place).to.be.an('array').with.length(shown.length);
    for (const [index, item] of shown.entries()) expectShown((actual as unknown[])[index], item, `${place}[${index}]`);
  } else if (typeof shown === 'object' && shown !== null) {
    expect(actual, place).to.be.an('object');
    if (Object.keys(shown).length === 0) expect(actual, place).to.deep.equal({});
    for (const [name, value] of Object.entries(shown)) {
      expectShown((actual as Record<string, unknown>)[name], value, `${place}.${name}`);
    }
  } else {
    expect(actual, place).to.equal(shown);
  }
}
