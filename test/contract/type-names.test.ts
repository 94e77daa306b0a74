import { join } from 'node:path';
import { expect } from 'chai';
import { findTypeNames, problemsIn } from '../../scripts/check-type-names.ts';

describe('the names of authorization types', () => {
  it('occur only in core/authorization', () => {
    expect(findTypeNames(join(import.meta.dirname, '../..'))).to.deep.equal([]);
  });

  for (const [file, text] of [
    ['core/accounts/create-account.ts', "if (pattern.type === 'OAUTH') return;"],
    ['core/accounts/create-account.ts', "    case 'SMART_FHIR':"],
    ['core/accounts/create-account.ts', "const TYPES = new Set(['API_KEY']);"],
    ['core/accounts/create-account.ts', "  WORKSPACE_DWD: 'delegation',"],
    ['db/sqlite/migrations/0009_more.sql', "  authorization_type text check (authorization_type in ('BASIC')),"],
    ['core/present/account.ts', 'if (row.type === "NO_AUTH") return;'],
  ] as const) {
    it(`are found in ${file}: ${text.trim()}`, () => {
      expect(problemsIn(file, text)).to.deep.equal([`${file}:1 names an authorization type: ${text.trim()}`]);
    });
  }

  for (const [file, text] of [
    ['core/authorization/oauth.ts', "const name = 'OAUTH';"],
    ['core/accounts/create-account.ts', '/** Accounts of type OAUTH are granted. */'],
    ['core/accounts/create-account.ts', "const code = 'OAUTH_REFUSED';"],
  ] as const) {
    it(`may occur in ${file}: ${text}`, () => expect(problemsIn(file, text)).to.deep.equal([]));
  }
});
