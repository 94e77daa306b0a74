import { expect } from 'chai';
import { lintSpec } from '../../scripts/lint-spec.ts';

describe('the contract under its linters', () => {
  it('has no errors and no warnings', async () => {
    expect(await lintSpec()).to.deep.equal([]);
  });
});
