import { expect } from 'chai';
import fc from 'fast-check';
import { parseScope, SCOPES } from '../../../core/tokens/scopes.ts';

describe('the scope parameter (RFC 6749 §3.3)', () => {
  it('returns each known scope once, in the given order', () => {
    expect(parseScope('tools:execute accounts:read tools:execute')).to.deep.equal(['tools:execute', 'accounts:read']);
    expect(parseScope(SCOPES.join(' '))).to.deep.equal([...SCOPES]);
  });

  for (const text of [
    '',
    ' ',
    ' admin',
    'admin ',
    'admin  tools:read',
    'admin\ttools:read',
    'admin\ntools:read',
    'admin,tools:read',
    'admin+tools:read',
    '"admin"',
    'admin\\',
    'Admin',
    'admin\u0000',
    'admin tools:everything',
    'accounts:*',
    'toString',
    '__proto__',
    'ádmin',
    `admin ${'tools:read '.repeat(200)}admin`,
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
      expect(parseScope(text)).to.equal(null);
    });
  }

  it('never returns an unknown scope', () => {
    const words = fc.oneof(fc.constantFrom(...SCOPES), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(words), fc.constantFrom(' ', '  ', ','), (list, separator) => {
        const scopes = parseScope(list.join(separator));
        return scopes === null || (scopes.length > 0 && scopes.every((scope) => SCOPES.includes(scope)));
      }),
    );
  });
});
