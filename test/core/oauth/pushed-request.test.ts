import { expect } from 'chai';
import { oauthProviderOf } from '../../../core/oauth/provider.ts';
import { pushRequest } from '../../../core/oauth/pushed-request.ts';
import { tokenServerAt } from '../../../core/oauth/server.ts';
import { Secret } from '../../../core/secret.ts';

function push(answer: Response) {
  const oauth_config = { token_uri: 'https://as.example/token' };
  return pushRequest({
    endpoint: new URL('https://as.example/par'),
    server: tokenServerAt(oauthProviderOf({ type: 'OAUTH', oauth_config }, {})),
    client: { clientId: 'app', method: 'client_secret_basic', secret: new Secret('s') },
    parameters: [['state', 'x']],
    fetch: async () => answer,
    now: () => 0,
  });
}

describe('A pushed request (RFC 9126)', () => {
  it('is referred to by its reference in the authorization request', async () => {
    const requestUri = 'urn:example:1';
    for (const status of [201, 200]) {
      const answer = Response.json({ request_uri: requestUri, expires_in: 60 }, { status });
      expect(await push(answer)).to.deep.equal({ ok: true, requestUri });
    }
  });

  describe('gets no reference', () => {
    const cases: [title: string, answer: Response, outcome: object][] = [
      ['from a busy server', Response.json({}, { status: 429 }), { kind: 'unavailable', reason: 'rate_limited' }],
      ['from one that fails', Response.json({}, { status: 500 }), { kind: 'unavailable', reason: 'server_error' }],
      ['for an unknown client', new Response('', { status: 401 }), { kind: 'client' }],
      ['for a wrong request', Response.json({ error: 'invalid_request' }, { status: 400 }), { kind: 'client' }],
      ['from a page', new Response('<html>'), { kind: 'unavailable', reason: 'invalid_response' }],
      ['from an answer without one', Response.json({}), { kind: 'unavailable', reason: 'invalid_response' }],
      ['that is no text', Response.json({ request_uri: 7 }), { kind: 'unavailable', reason: 'invalid_response' }],
      ['that would break an address', Response.json({ request_uri: 'a b' }), { kind: 'unavailable' }],
    ];
    for (const [title, answer, outcome] of cases) {
      it(title, async () => expect(await push(answer)).to.deep.include({ ok: false, ...outcome }));
    }
  });
});
