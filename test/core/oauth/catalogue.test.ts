import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { AuthField, AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import { beginAuthorization } from '../../../core/oauth/begin-authorization.ts';
import { identityMethodOf } from '../../../core/oauth/identity.ts';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { tokenServerAt } from '../../../core/oauth/server.ts';
import { Secret } from '../../../core/secret.ts';
import { readCatalogueJson } from '../../support/catalogue-json.ts';

const { connectors } = readCatalogueJson();

/** Returns a value that a user could type. */
function sample({ options, field_name }: AuthField): string {
  return options?.[0] ?? (/url|host/.test(field_name) ? 'https://acme.example' : 'acme');
}

/** Returns the patterns that contain their endpoints, with the names of their connectors. Others discover theirs. */
function patternsOf(type: AuthPattern['type']): [name: string, pattern: AuthPattern][] {
  return Object.values(connectors).flatMap(({ identifier, auth_patterns: patterns }) =>
    patterns
      .filter((pattern) => pattern.type === type && pattern.oauth_config?.token_uri !== undefined)
      .map((pattern): [string, AuthPattern] => [identifier, pattern]),
  );
}

function providerOf(pattern: AuthPattern) {
  const fields = [...(pattern.account_fields ?? []), ...(pattern.fields ?? [])];
  return oauthProviderOf(pattern, Object.fromEntries(fields.map((field) => [field.field_name, sample(field)])));
}

describe('Every OAuth connector of the catalogue', () => {
  for (const [name, pattern] of patternsOf('OAUTH')) {
    it(`${name} opens its own page, with the parameters of the protocol`, async () => {
      const provider = providerOf(pattern);
      const method = pattern.oauth_config?.client_auth_method ?? 'client_secret_basic';
      const begun = await beginAuthorization({
        provider,
        client: { clientId: 'app', method, secret: new Secret('s') },
        redirectUri: 'https://valetkey.example/cb',
        scopes: (pattern.oauth_config?.available_scopes ?? []).map(({ scope }) => scope),
        fetchFor: () => () => Promise.reject(new Error('nothing is to be asked')),
        now: Date.now,
        random: randomBytes,
      });
      if (!begun.ok) throw new Error(begun.message);
      const { searchParams } = new URL(begun.url);
      const { names = {} } = pattern.oauth_config?.authorization ?? {};
      expect(searchParams.get(names['state'] ?? 'state')).to.equal(begun.kept.state);
      expect(searchParams.has('code_challenge')).to.equal(pattern.oauth_config?.pkce !== 'none');
      expect(tokenServerAt(provider).tokenEndpoint.protocol).to.equal('https:');
    });

    it(`${name} identifies the connected account`, () => {
      expect(identityMethodOf(pattern.oauth_config ?? {})).not.to.equal(undefined);
    });
  }

  for (const [name, pattern] of patternsOf('OAUTH_M2M')) {
    it(`${name} has a token endpoint for machine clients`, () => {
      expect(tokenServerAt(providerOf(pattern)).tokenEndpoint.protocol).to.equal('https:');
    });
  }
});
