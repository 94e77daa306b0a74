import { expect } from 'chai';
import { describePattern, EXPLAINED_PATTERNS } from '../../http/validation/pattern-descriptions.ts';
import { contract } from './contract.ts';

function patternsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = 'pattern' in node && typeof node.pattern === 'string' ? [node.pattern] : [];
  return [...own, ...Object.values(node).flatMap(patternsIn)];
}

describe('patterns of the contract', () => {
  // Examples are left out: they contain patterns of provider fields, which are data.
  const { examples: _data, ...components } = contract['components'] as Record<string, unknown>;
  const patterns = new Set(patternsIn([contract['paths'], components]));

  it('each have a description, which errors show instead of the regular expression', () => {
    expect([...patterns].filter((pattern) => describePattern(pattern) === undefined)).to.deep.equal([]);
  });

  it('are the only ones that have a description', () => {
    expect(EXPLAINED_PATTERNS.filter((pattern) => !patterns.has(pattern))).to.deep.equal([]);
  });
});
