import { expect } from 'chai';
import { lintSpec } from '../../scripts/lint-spec.ts';

describe('the contract under its linters', () => {
  it('gives no finding, not even a warning', async () => {
    expect(await lintSpec()).to.deep.equal([]);
  });
});
