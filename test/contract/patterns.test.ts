import { expect } from 'chai';
import { EXPLAINED_PATTERNS, wordsOfPattern } from '../../http/validation/pattern-words.ts';
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

  it('have words each, which an error says instead of the expression', () => {
    expect([...patterns].filter((pattern) => wordsOfPattern(pattern) === undefined)).to.deep.equal([]);
  });

  it('are all that there are words for', () => {
    expect(EXPLAINED_PATTERNS.filter((pattern) => !patterns.has(pattern))).to.deep.equal([]);
  });
});
