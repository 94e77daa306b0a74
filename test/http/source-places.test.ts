import { expect } from 'chai';
import { withSourcePlaces } from '../../http/monitoring/source-places.ts';
import { lineRuns } from '../../scripts/line-runs.ts';

const BUILT = new URL('../../build/server/', import.meta.url).href;

describe('the lines of built files', () => {
  it('are read from the mappings of a source map, as runs of lines that follow each other', () => {
    // Lines 1 and 2 are lines 1 and 2 of source 0, line 4 is line 11 of source 1, line 5 is line 2 of source 0.
    expect(lineRuns('AAAA,IAAC;AACA;;ACSD;ADTA')).to.deep.equal([
      [1, 0, 1],
      [4, 1, 11],
      [5, 0, 2],
    ]);
  });

  it('stay as they are where nothing says from which source they are', () => {
    for (const stack of [
      'Error: x\n    at a (file:///srv/a.js:1:2)',
      `Error: x\n    at a (${BUILT}no-such-file.js:1:2)`,
    ]) {
      expect(withSourcePlaces(stack)).to.equal(stack);
    }
  });
});
