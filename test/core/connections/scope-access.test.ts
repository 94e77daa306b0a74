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
      expect(scopeAccess(catalogue, connector, { scope })).to.equal(expected);
    });
  }

  for (const [connector, scope, description, expected] of [
    ['microsoft_365', 'Files.ReadWrite', "Read, make, change and delete the user's files.", 'delete'],
    ['google_workspace', 'https://www.googleapis.com/auth/drive', 'See, make, change and delete all files.', 'delete'],
    ['xero', 'accounting.settings', 'Read and change accounts, tax rates and items.', 'write'],
    ['unknown', 'identity', 'Read the account itself.', 'read'],
    ['unknown', 'updates:read', 'Read updates and replies.', 'read'],
    ['unknown', 'account', 'Read the address and mark notifications as read.', 'write'],
    ['unknown', 'files:write', 'Read files.', 'write'],
    ['unknown', 'ADMIN_WORKSPACES', 'Make and change workspaces.', 'delete'],
    ['unknown', 'dossiers', 'Lire et supprimer les dossiers.', 'write'],
    ['github', 'repo', 'Read code.', 'delete'],
  ] as const) {
    it(`${scope} of ${connector}, "${description}": ${expected}`, () => {
      expect(scopeAccess(catalogue, connector, { scope, description })).to.equal(expected);
    });
  }

  it('calls no scope read-only whose description says that it deletes', () => {
    const described = catalogue
      .connectors()
      .flatMap(({ identifier, auth_patterns: patterns }) =>
        patterns.flatMap(({ oauth_config: config }) =>
          (config?.available_scopes ?? []).map((entry) => ({ identifier, entry })),
        ),
      );
    const deleting = described.filter(({ entry }) => /\bdelete\b/i.test(entry.description ?? ''));
    expect(deleting).to.have.length.above(50);
    for (const { identifier, entry } of deleting)
      expect(scopeAccess(catalogue, identifier, entry), entry.scope).to.equal('delete');
  });

  it("does not call a scope read-only that a tool requires for a change, unless the scope's name says so", () => {
    for (const { identifier } of catalogue.connectors()) {
      for (const name of catalogue.toolNames(identifier)) {
        const { hints, scopes } = catalogue.peek(name) ?? {};
        if (!hints || hints.read_only || !scopes?.length) continue;
        for (const set of scopes.filter((one) => one.length === 1))
          for (const scope of set)
            if (!/read|view|list/i.test(scope)) {
              expect(scopeAccess(catalogue, identifier, { scope }), `${name} ${scope}`).not.to.equal('read');
            }
      }
    }
  });
});
