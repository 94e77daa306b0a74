import { expect } from 'chai';
import { EgressError } from '../../../core/net/egress-error.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';
import { parseEgressAllow, parseEndpointOverrides } from '../../../core/net/policy-settings.ts';

const strict = new EgressPolicy({ allow: [], overrides: [] });

function reasonFor(policy: EgressPolicy, address: string): string {
  try {
    policy.route(new URL(address));
  } catch (error) {
    if (error instanceof EgressError && error.kind === 'blocked' && !error.sent) return error.message;
    throw error;
  }
  return 'permitted';
}

describe('EgressPolicy', () => {
  it('permits https to a public host on port 443', () => {
    expect(strict.route(new URL('https://api.example.com/a?b=c#d'))).to.deep.equal({
      origin: 'https://api.example.com',
      target: { tls: true, hostname: 'api.example.com', port: 443 },
      targetOrigin: 'https://api.example.com',
    });
    expect(reasonFor(strict, 'https://[2606:4700:4700::1111]/')).to.equal('permitted');
  });

  for (const [address, reason] of [
    ['http://api.example.com/', /https/],
    ['http://127.0.0.1:4001/', /https/],
    ['ftp://api.example.com/', /https/],
    ['file:///etc/passwd', /https/],
    ['unix:/var/run/docker.sock', /https/],
    ['data:text/plain,hello', /https/],
    ['https://api.example.com:8443/', /Port 8443/],
    ['https://api.example.com:0/', /Port 0/],
    ['https://user@api.example.com/', /user name/],
    ['https://:password@api.example.com/', /user name/],
    ['https://api.example.com@127.0.0.1/', /user name/],
    ['https://api.example.com./', /dot/],
    ['https://localhost/', /public internet/],
    ['https://LOCALHOST/', /public internet/],
    ['https://api.localhost/', /public internet/],
    ['https://10.0.0.1/', /public internet/],
    ['https://[::ffff:8.8.8.8]/', /public internet/],
  ] as const) {
    it(`refuses ${address} (P1)`, () => {
      expect(reasonFor(strict, address)).to.match(reason);
    });
  }

  it('permits plain http only to a listed loopback host and port, in the listed spelling', () => {
    const policy = new EgressPolicy({ allow: [{ host: '127.0.0.1', port: 4001 }], overrides: [] });
    expect(reasonFor(policy, 'http://127.0.0.1:4001/x')).to.equal('permitted');
    expect(reasonFor(policy, 'https://127.0.0.1:4001/x')).to.equal('permitted');
    expect(reasonFor(policy, 'http://127.0.0.1:4002/x')).to.match(/https/);
    expect(reasonFor(policy, 'http://localhost:4001/x')).to.match(/https/);
    expect(reasonFor(policy, 'http://127.0.0.2:4001/x')).to.match(/https/);
  });

  it('permits a listed port of a public host, only in https and to public addresses', () => {
    const policy = new EgressPolicy({ allow: [{ host: 'api.example.com', port: 8443 }], overrides: [] });
    expect(reasonFor(policy, 'https://api.example.com:8443/')).to.equal('permitted');
    expect(reasonFor(policy, 'http://api.example.com:8443/')).to.match(/https/);
    expect(policy.permit({ tls: true, hostname: 'api.example.com', port: 8443 })).to.equal('public');
  });

  it('sends the calls of an overridden origin to its local target, and no other', () => {
    const overrides = [{ origin: 'https://api.example.com', target: 'http://127.0.0.1:4001' }];
    const policy = new EgressPolicy({ allow: [], overrides });
    expect(policy.route(new URL('https://api.example.com/a'))).to.deep.equal({
      origin: 'https://api.example.com',
      target: { tls: false, hostname: '127.0.0.1', port: 4001 },
      targetOrigin: 'http://127.0.0.1:4001',
    });
    expect(policy.route(new URL('https://www.example.com/a')).targetOrigin).to.equal('https://www.example.com');
    expect(reasonFor(policy, 'http://api.example.com/a')).to.match(/https/);
    expect(reasonFor(policy, 'https://api.example.com:8443/a')).to.match(/Port/);
  });

  it("refuses the server's own addresses in any spelling", () => {
    const policy = new EgressPolicy({ allow: [], overrides: [], ownAddresses: ['8.8.4.4', '2606:4700:0:0::1'] });
    expect(reasonFor(policy, 'https://8.8.4.4/')).to.match(/public internet/);
    expect(policy.admits('2606:4700::1', 'public')).to.equal(false);
    expect(policy.admits('2606:4700::2', 'public')).to.equal(true);
  });

  it('cannot be replaced by an object of the same shape, such as stored configuration', () => {
    const forged = Object.create(EgressPolicy.prototype) as EgressPolicy;
    expect(() => forged.route(new URL('https://api.example.com/'))).to.throw(TypeError);
  });

  it('refuses a private address and an override to another host also when created by code', () => {
    expect(() => new EgressPolicy({ allow: [{ host: '10.0.0.1', port: 80 }], overrides: [] })).to.throw(/10\.0\.0\.1/);
    const overrides = [{ origin: 'https://a.example', target: 'http://10.0.0.1:80' }];
    expect(() => new EgressPolicy({ allow: [], overrides })).to.throw(/not a loopback address/);
  });
});

describe('parseEgressAllow', () => {
  it('reads a comma list into the spelling that URLs use', () => {
    expect(parseEgressAllow(' 127.0.0.1:4001, LocalHost:4002,,[::1]:4003 ,api.example.com:8443')).to.deep.equal([
      { host: '127.0.0.1', port: 4001 },
      { host: 'localhost', port: 4002 },
      { host: '::1', port: 4003 },
      { host: 'api.example.com', port: 8443 },
    ]);
    expect(parseEgressAllow('')).to.deep.equal([]);
  });

  for (const entry of [
    '127.0.0.1',
    '127.0.0.1:0',
    '127.0.0.1:65536',
    '127.0.0.1:http',
    ':4001',
    '::1:4001',
    '*.example.com:443',
    'http://127.0.0.1:4001',
    'user@127.0.0.1:4001',
    'localhost/x:4001',
    '10.0.0.1:443',
    '169.254.169.254:80',
    '0.0.0.0:80',
    '[::ffff:127.0.0.1]:80',
  ]) {
    it(`refuses ${entry} and names it`, () => {
      expect(() => parseEgressAllow(`localhost:1,${entry}`)).to.throw(`VALETKEY_EGRESS_ALLOW: "${entry}`);
    });
  }
});

describe('parseEndpointOverrides', () => {
  it('reads a comma list of https origins and their loopback targets', () => {
    const text =
      'https://api.github.com=http://127.0.0.1:4001, https://Slack.com/ = http://localhost:4002,https://a.example:8443=http://[::1]:1';
    expect(parseEndpointOverrides(text)).to.deep.equal([
      { origin: 'https://api.github.com', target: 'http://127.0.0.1:4001' },
      { origin: 'https://slack.com', target: 'http://localhost:4002' },
      { origin: 'https://a.example:8443', target: 'http://[::1]:1' },
    ]);
    expect(parseEndpointOverrides('')).to.deep.equal([]);
  });

  for (const [entry, reason] of [
    ['https://a.example', /must have the form/],
    ['https://a.example=', /must have the form/],
    ['https://a.example=http://127.0.0.1:1=2', /must have the form/],
    ['http://a.example=http://127.0.0.1:1', /https origin/],
    ['https://a.example/path=http://127.0.0.1:1', /https origin/],
    ['https://user@a.example=http://127.0.0.1:1', /https origin/],
    ['a.example=http://127.0.0.1:1', /https origin/],
    ['https://a.example=https://127.0.0.1:1', /loopback/],
    ['https://a.example=http://127.0.0.1:1/path', /loopback/],
    ['https://a.example=http://user@127.0.0.1:1', /loopback/],
    ['https://a.example=http://10.0.0.1:1', /loopback/],
    ['https://a.example=http://169.254.169.254', /loopback/],
    ['https://a.example=http://b.example:1', /loopback/],
    ['https://a.example=http://0.0.0.0:1', /loopback/],
    ['https://a.example=http://127.0.0.1.nip.io:1', /loopback/],
    ['https://a.example=http://127.0.0.1:1,https://A.example=http://127.0.0.1:2', /twice/],
  ] as const) {
    it(`refuses ${entry}`, () => {
      expect(() => parseEndpointOverrides(entry)).to.throw(reason);
    });
  }
});
