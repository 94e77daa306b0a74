import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { scopeAccess } from '../../../core/connections/scope-access.ts';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';

const INDEX = new URL('../../../generated/catalogue.json', import.meta.url);
const catalogue = createCatalogue(readCatalogueIndex(readFileSync(INDEX, 'utf8')));

describe('scopeAccess', () => {
  for (const [connector, scope, expected] of [
    ['github', 'repo', 'delete'],
    ['github', 'read:user', 'read'],
    ['github', 'read:org', 'read'],
    ['github', 'delete_repo', 'delete'],
    ['github', 'admin:org', 'delete'],
    ['gmail', 'https://www.googleapis.com/auth/gmail.readonly', 'read'],
    ['gmail', 'https://www.googleapis.com/auth/gmail.send', 'write'],
    ['microsoft_365', 'Mail.Read', 'read'],
    ['unknown', 'openid', 'read'],
    ['unknown', 'files:read', 'read'],
    ['unknown', 'files:write', 'write'],
    ['unknown', 'files.readwrite', 'write'],
    ['unknown', 'something', 'write'],
    ['unknown', 'account:delete', 'delete'],
    ['constructor', '__proto__', 'write'],
  ] as const) {
    it(`${scope} of ${connector}: ${expected}`, () => {
      expect(scopeAccess(catalogue, connector, scope)).to.equal(expected);
    });
  }

  it("does not call a scope read-only that a tool requires for a change, unless the scope's name says so", () => {
    for (const { identifier } of catalogue.connectors()) {
      for (const name of catalogue.toolNames(identifier)) {
        const { hints, scopes } = catalogue.peek(name) ?? {};
        if (!hints || hints.read_only || !scopes?.length) continue;
        for (const set of scopes.filter((one) => one.length === 1))
          for (const scope of set)
            if (!/read|view|list/i.test(scope)) {
              expect(scopeAccess(catalogue, identifier, scope), `${name} ${scope}`).not.to.equal('read');
            }
      }
    }
  });
});
