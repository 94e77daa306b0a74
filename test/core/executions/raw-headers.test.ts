import { expect } from 'chai';
import { rawRequestHeaders, rawResponseHeaders } from '../../../core/executions/raw-headers.ts';

/** Repetitions of each operation. In quadratic time, they would take minutes. */
const REPEATED = 200;
const BLANKS = ' '.repeat(60_000);
const same = (text: string) => text;

describe('H7: the headers of a raw call', () => {
  it('do not include headers that Connection names', () => {
    for (const connection of ['x-hop, close', ' X-Hop ,close', 'close,x-hop']) {
      expect(rawResponseHeaders({ connection, 'x-hop': '1', 'x-kept': '2' }, same)).to.deep.equal({ 'x-kept': '2' });
      expect(rawRequestHeaders({ connection, 'x-hop': '1', 'x-kept': '2' }, {}, [])).to.deep.equal({
        'x-kept': '2',
        'accept-encoding': 'identity',
      });
    }
  });

  it('are read in linear time if Connection has a long run of blanks', () => {
    for (let times = 0; times < REPEATED; times++) {
      const connection = `x-hop${BLANKS}b,x-other`;
      expect(rawResponseHeaders({ connection, 'x-other': '1', 'x-hop': '2' }, same)).to.deep.equal({ 'x-hop': '2' });
      expect(rawRequestHeaders({ connection, 'x-other': '1' }, {}, [])).to.have.all.keys('accept-encoding');
    }
  });
});
