import { expect } from 'chai';
import { drift } from '../../scripts/generate.ts';

describe('generated files', () => {
  it('are what the sources give now, byte for byte', async () => {
    expect(await drift()).to.deep.equal([]);
  });
});
