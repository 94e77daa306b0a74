import { expect } from 'chai';
import { breakingChanges } from '../../scripts/compatibility.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { unacceptedBreaks, withoutTexts } from '../../scripts/released-contract.ts';
import { contract } from './contract.ts';

describe('the contract of a release', () => {
  it('is stored without texts, and still reveals every break', () => {
    const kept = withoutTexts(contract) as JsonObject;
    expect(JSON.stringify(kept).length).to.be.below(JSON.stringify(contract).length / 1.5);
    expect(breakingChanges(kept, contract)).to.deep.equal([]);
    const { '/healthz': health, ...paths } = contract['paths'] as JsonObject;
    expect(health).not.to.equal(undefined);
    expect(breakingChanges(kept, { ...contract, paths })).to.deep.equal(['getHealth: the operation was removed']);
  });

  it('keeps properties that have the name of a text keyword', () => {
    const schema = {
      description: 'A note.',
      properties: { description: { type: 'string', description: 'Its text.' } },
    };
    expect(withoutTexts(schema)).to.deep.equal({ properties: { description: { type: 'string' } } });
  });

  it('allows a break that is listed with a reason, and no other', () => {
    const found = ['a: the operation was removed', 'b: the operation was removed'];
    expect(unacceptedBreaks(found, [{ change: found[0] as string, reason: 'No client called it.' }])).to.deep.equal([
      found[1],
    ]);
    expect(unacceptedBreaks(found, [{ change: found[0] as string, reason: ' ' }])).to.deep.equal(found);
  });

  it('rejects a listed break that did not happen', () => {
    expect(unacceptedBreaks([], [{ change: 'c: moved', reason: 'Old.' }])).to.deep.equal([
      'accepted-breaks.yaml lists a change that was not made: c: moved',
    ]);
  });
});
