import { expect } from 'chai';
import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import type { Credential } from '../../../core/connectors/credential.ts';
import { placeCredential } from '../../../core/connectors/placement.ts';
import { Secret } from '../../../core/secret.ts';
import { dryRun } from '../../../core/tools/call.ts';
import { type RenderedRequest, renderRequest } from '../../../core/tools/request.ts';
import { BEARER, failureOf, prepared, providerOf, TOKEN, tokenCredential, toolOf, writingTool } from './samples.ts';

function rendered(
  parts: Parameters<typeof prepared>[0] = {},
  credential: Credential = tokenCredential(),
): RenderedRequest {
  const call = prepared(parts);
  return renderRequest(call, placeCredential(call.pattern, credential));
}

describe('The request of a call', () => {
  it("is the template with the provider's headers and the credential", () => {
    const provider = providerOf({
      api: { base_url: 'https://api.acme.example/v1', headers: { 'X-Version': '7', Accept: 'application/x+json' } },
    });
    expect(rendered({ provider, tool: writingTool(), toolInput: { name: 'n' } })).to.deep.equal({
      method: 'POST',
      url: 'https://api.acme.example/v1/things',
      headers: {
        accept: 'application/x+json',
        'x-version': '7',
        'content-type': 'application/json',
        authorization: `Bearer ${TOKEN}`,
      },
      body: '{"name":"n"}',
      preview: { name: 'n' },
      secrets: [TOKEN],
    });
  });

  it('goes to another origin of the provider if the tool names one', () => {
    const tool = toolOf({ request: { method: 'GET', origin: 'https://uploads.example.com', path: '/things' } });
    expect(rendered({ tool }).url).to.equal('https://uploads.example.com/things');
  });

  it('adds renamed and free query parameters', () => {
    const request = {
      method: 'GET' as const,
      path: '/things?fixed=1{&plain}',
      query: {
        'created[gte]': { $input: 'since' },
        expand: { $input: 'expand' },
        ids: { $join: { input: 'expand', separator: ',' } },
      },
      query_input: 'free',
    };
    const toolInput = { plain: 'p', since: 5, expand: ['a', 'b'], free: { 'x&y': 'z', n: [1, 2] } };
    expect(rendered({ tool: toolOf({ request }), toolInput }).url).to.equal(
      'https://api.acme.example/v1/things?fixed=1&plain=p&created[gte]=5&expand=a&expand=b&ids=a%2Cb&x%26y=z&n=1&n=2',
    );
  });

  it('contains non-secret account values in path, body and headers', () => {
    const tool = writingTool({
      request: {
        method: 'POST',
        path: '/a/{account.sid}',
        headers: { 'X-Sid': { $account: 'sid' } },
        body: { format: 'form', value: { sid: { $account: 'sid' } } },
      },
    });
    const request = rendered({ tool, account: { sid: 'AC1' } });
    expect([request.url, request.headers['x-sid'], request.body]).to.deep.equal([
      'https://api.acme.example/v1/a/AC1',
      'AC1',
      'sid=AC1',
    ]);
    expect(failureOf(() => rendered({ tool, account: { sid: '../AC1' } })).code).to.equal('INVALID_TOOL_INPUT');
  });

  it('has no headers of callers that identify the caller or frame the message (E2)', () => {
    const tool = toolOf({ request: { method: 'GET', path: '/things', headers_input: 'headers' } });
    const names = [
      ...[
        'Authorization',
        'authorization',
        'Cookie',
        'Host',
        'Content-Length',
        'Transfer-Encoding',
        'Connection',
        'Keep-Alive',
        'TE',
      ],
      ...[
        'Trailer',
        'Upgrade',
        'Proxy-Authorization',
        'proxy-x',
        'X-Forwarded-For',
        'X-HTTP-Method-Override',
        'Expect',
        'a b',
        'a:b',
        '',
      ],
    ];
    for (const name of names) {
      expect(failureOf(() => rendered({ tool, toolInput: { headers: { [name]: 'x' } } })).fields, name).to.deep.equal([
        `tool_input.headers.${name}`,
      ]);
    }
    expect(rendered({ tool, toolInput: { headers: { 'X-Trace': ' a ' } } }).headers['x-trace']).to.equal('a');
  });

  it('keeps the header of the credential, which callers cannot set', () => {
    const tool = toolOf({ request: { method: 'GET', path: '/things', headers_input: 'headers' } });
    const pattern: AuthPattern = { type: 'API_KEY', auth_header_key_override: 'X-Api-Key' };
    const credential: Credential = { kind: 'static', details: { api_key: new Secret('key_123456') } };
    const toolInput = { headers: { 'x-api-key': 'mine' } };
    expect(failureOf(() => rendered({ tool, pattern, toolInput }, credential)).fields).to.deep.equal([
      'tool_input.headers.x-api-key',
    ]);
  });

  it('with a line break or NUL in a header value is refused (E2)', () => {
    const tool = toolOf({
      request: { method: 'GET', path: '/things', headers: { 'X-Name': { $input: 'name' } }, headers_input: 'headers' },
    });
    for (const value of ['a\r\nX: y', 'a\ny', 'a\ry', 'a\u0000', 'ü']) {
      expect(failureOf(() => rendered({ tool, toolInput: { name: value } })).fields).to.deep.equal(['tool_input.name']);
      expect(failureOf(() => rendered({ tool, toolInput: { headers: { 'x-a': value } } })).fields).to.deep.equal([
        'tool_input.headers.x-a',
      ]);
    }
  });

  it("has the execution's id for a write if the provider supports idempotency keys, and not for a read (E7)", () => {
    const provider = providerOf({
      api: { base_url: 'https://api.acme.example', idempotency_header: 'Idempotency-Key' },
    });
    expect(rendered({ provider, tool: writingTool(), toolInput: { name: 'n' } }).headers['idempotency-key']).to.equal(
      'exec_1',
    );
    expect(rendered({ provider }).headers).to.not.have.property('idempotency-key');
  });

  it('can contain credentials in the query, a cookie and the body', () => {
    const pattern: AuthPattern = {
      type: 'CUSTOM',
      fields: (['query', 'cookie', 'body', 'header'] as const).map((place) => ({
        field_name: place,
        label: place,
        input_type: 'password',
        placement: { in: place, name: `x_${place}` },
      })),
    };
    const details = Object.fromEntries(
      ['query', 'cookie', 'body', 'header'].map((name) => [name, new Secret(`${name}+secret`)]),
    );
    const request = rendered({ tool: writingTool(), pattern, toolInput: { name: 'n' } }, { kind: 'static', details });
    expect(request.url).to.equal('https://api.acme.example/v1/things?x_query=query%2Bsecret');
    expect(request.headers).to.include({ cookie: 'x_cookie=cookie+secret', x_header: 'header+secret' });
    expect(request.body).to.equal('{"name":"n","x_body":"body+secret"}');
  });

  it('with an input in the place of a credential in the body is refused', () => {
    const pattern: AuthPattern = {
      type: 'CUSTOM',
      fields: [{ field_name: 'key', label: 'Key', input_type: 'password', placement: { in: 'body', name: 'key' } }],
    };
    const tool = writingTool({
      request: { method: 'POST', path: '/x', body: { format: 'json', value: { $input: 'body' } } },
    });
    const credential: Credential = { kind: 'static', details: { key: new Secret('stored') } };
    expect(rendered({ tool, pattern, toolInput: { body: { key: 'mine', a: 1 } } }, credential).body).to.equal(
      '{"key":"stored","a":1}',
    );
    expect(failureOf(() => rendered({ tool, pattern, toolInput: { body: [1] } }, credential)).code).to.equal(
      'INVALID_TOOL_INPUT',
    );
  });

  it('has an empty object for an object template without inputs, and no body for a single absent input', () => {
    expect(rendered({ tool: writingTool() }).body).to.equal('{}');
    const bare = writingTool({
      request: { method: 'POST', path: '/x', body: { format: 'json', value: { $input: 'body' } } },
    });
    expect(rendered({ tool: bare }).body).to.equal(undefined);
    expect(rendered({ tool: bare }).headers).to.not.have.property('content-type');
    expect(rendered({ tool: bare, toolInput: { body: null } }).body).to.equal('null');
  });
});

describe('A dry run', () => {
  const key = 'key_SECRET_value';

  it('shows the exact request with masked secrets', () => {
    const call = prepared({ tool: writingTool(), toolInput: { name: 'n' }, pattern: BEARER });
    const shown = dryRun(call, tokenCredential(key));
    expect(shown.headers['authorization']).to.equal('Bearer [secret]');
    expect(shown.body).to.deep.equal({ name: 'n' });
    const real = renderRequest(call, placeCredential(BEARER, tokenCredential(key)));
    expect({ ...shown.headers, authorization: `Bearer ${key}` }).to.deep.equal(real.headers);
    expect([shown.method, shown.url]).to.deep.equal([real.method, real.url]);
  });

  it('never shows a secret, regardless of its placement', () => {
    const patterns: [AuthPattern, Record<string, string>][] = [
      [{ type: 'API_KEY', placement: { in: 'query', name: 'k' } }, { api_key: key }],
      [{ type: 'API_KEY', placement: { in: 'cookie', name: 'k' } }, { api_key: key }],
      [{ type: 'API_KEY', auth_field_mutations: { api_key: { prefix: 'SSWS ' } } }, { api_key: key }],
      [{ type: 'BASIC' }, { username: 'ada', password: key }],
      [
        {
          type: 'CUSTOM',
          fields: [{ field_name: 'k', label: 'k', input_type: 'password', placement: { in: 'body', name: 'k' } }],
        },
        { k: key },
      ],
    ];
    for (const [pattern, values] of patterns) {
      const details = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, new Secret(value)]));
      const text = JSON.stringify(dryRun(prepared({ tool: writingTool(), pattern }), { kind: 'static', details }));
      expect(text).to.not.contain(key);
      expect(text).to.not.contain(Buffer.from(`ada:${key}`).toString('base64'));
      expect(text).to.contain('[secret]');
    }
  });
});
