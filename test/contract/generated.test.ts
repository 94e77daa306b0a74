import { expect } from 'chai';
import { drift } from '../../scripts/generate.ts';

describe('generated files', () => {
  it('are equal to what the sources generate, byte for byte', async () => {
    expect(await drift()).to.deep.equal([]);
  });
});
