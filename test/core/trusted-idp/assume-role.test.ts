import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect } from 'chai';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { generateSigningKey } from '../../../core/tokens/signing-key.ts';
import { type AssumeRoleRequest, assumeRole } from '../../../core/trusted-idp/assume-role.ts';
import { identityClaims, identitySubject } from '../../../core/trusted-idp/identity-token.ts';
import type { AssumeRoleOutcome } from '../../../core/trusted-idp/read-response.ts';
import { fromTemporaryDetails, toTemporaryDetails } from '../../../core/trusted-idp/temporary-credentials.ts';
import { closeAll, egressTo } from '../net/local.ts';
import { type Cloud, ROLE, startCloud } from './cloud.ts';
import { type Issuer, signerWith, startIssuer } from './issuer.ts';

const AUDIENCE = 'valetkey-at-acme';
const SUBJECT = identitySubject({ environmentId: 'env_1', connectionId: 'conn_1', id: 'ca_1' });
const HOUR = 3_600_000;

describe('assuming a role by a token of ours', () => {
  let issuer: Issuer;
  let cloud: Cloud;

  before(async () => {
    issuer = await startIssuer();
    cloud = await startCloud({ issuer: issuer.url, audience: AUDIENCE, subjects: [SUBJECT] });
  });
  after(closeAll);

  function assume(
    changes: Partial<AssumeRoleRequest> = {},
    identity: Partial<AssumeRoleRequest['identity']> = {},
  ): Promise<AssumeRoleOutcome> {
    return assumeRole({
      endpoint: new URL('/', cloud.tokenService.origin),
      roleArn: ROLE,
      sessionName: 'valetkey-ca_1',
      durationS: 3600,
      identity: { issuer: issuer.url, audience: AUDIENCE, subject: SUBJECT, ...identity },
      sign: issuer.sign,
      fetch: egressTo(cloud.tokenService).pinnedFetch([cloud.tokenService.origin]),
      now: Date.now,
      random: randomBytes,
      ...changes,
    });
  }

  /** Sends a request, and counts how many requests were needed. */
  async function counted(asking: () => Promise<AssumeRoleOutcome>): Promise<[number, AssumeRoleOutcome]> {
    const before = cloud.assumed.length;
    const outcome = await asking();
    return [cloud.assumed.length - before, outcome];
  }

  describe('is refused (negative controls)', () => {
    const codeOf = (outcome: AssumeRoleOutcome) => (outcome.ok ? 'ok' : /\((\w+)\)/.exec(outcome.message)?.[1]);

    it('for a token for another audience', async () => {
      const outcome = await assume({}, { audience: 'another' });
      expect([outcome.ok || outcome.kind, codeOf(outcome)]).to.deep.equal(['client', 'InvalidIdentityToken']);
    });

    it('for a token of another issuer', async () => {
      expect(codeOf(await assume({}, { issuer: 'https://other.example' }))).to.equal('InvalidIdentityToken');
    });

    it('for a token that was signed with an unknown key, even with the id of our key', async () => {
      const stranger = generateSigningKey();
      expect(codeOf(await assume({ sign: signerWith(stranger) }))).to.equal('InvalidIdentityToken');
      expect(codeOf(await assume({ sign: signerWith(stranger, issuer.key.kid) }))).to.equal('InvalidIdentityToken');
    });

    it('for a token that has expired', async () => {
      const sign: AssumeRoleRequest['sign'] = (claims) =>
        issuer.sign({ ...claims, iat: claims.iat - 1000, exp: claims.iat - 700 });
      expect(codeOf(await assume({ sign }))).to.equal('ExpiredToken');
    });

    it('for an account that the role does not trust', async () => {
      const subject = identitySubject({ environmentId: 'env_1', connectionId: 'conn_1', id: 'ca_2' });
      expect(codeOf(await assume({}, { subject }))).to.equal('AccessDenied');
    });

    it('for another role', async () => {
      expect(codeOf(await assume({ roleArn: `${ROLE}2` }))).to.equal('AccessDenied');
    });
  });

  it('returns temporary credentials, and the identity that they belong to', async () => {
    const before = Date.now();
    const outcome = await assume({ durationS: 900 });
    if (!outcome.ok) throw new Error(outcome.message);
    expect(outcome.principal).to.equal('arn:aws:sts::123456789012:assumed-role/warehouse/valetkey-ca_1');
    const { accessKeyId, secretAccessKey, sessionToken, expiresAt } = outcome.credentials;
    expect(accessKeyId).to.match(/^ASIA/);
    expect([secretAccessKey.reveal().length, sessionToken.reveal().length]).to.deep.equal([40, 400]);
    expect(expiresAt).to.be.within(before + 899_000, Date.now() + 900_000);
  });

  it('sends an unsigned form with the parameters of the operation', async () => {
    await assume();
    const form = Object.fromEntries(cloud.assumed.at(-1) ?? []);
    const { WebIdentityToken, ...rest } = form;
    expect(WebIdentityToken?.split('.')).to.have.length(3);
    expect(rest).to.deep.equal({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: ROLE,
      RoleSessionName: 'valetkey-ca_1',
      DurationSeconds: '3600',
    });
    const { headers } = cloud.tokenService.requests.at(-1) ?? {};
    expect(headers).not.to.have.any.keys('authorization', 'x-amz-date', 'x-amz-security-token');
  });

  describe('when the clocks differ', () => {
    it('retries once with the time of the cloud, and computes the expiry by our own clock', async () => {
      for (const by of [HOUR, -2 * HOUR]) {
        const now = () => Date.now() + by;
        const [requests, outcome] = await counted(() => assume({ now }));
        expect([requests, outcome.ok]).to.deep.equal([2, true]);
        if (outcome.ok) expect(outcome.credentials.expiresAt).to.be.within(now() + HOUR - 5000, now() + HOUR);
      }
    });

    it('sends no more than two requests', async () => {
      const [requests, outcome] = await counted(() =>
        assume({ now: () => Date.now() + HOUR }, { audience: 'another' }),
      );
      expect([requests, outcome.ok]).to.deep.equal([2, false]);
    });
  });

  it('sends nothing for an invalid role, or without an audience', async () => {
    const wrong = ['', 'warehouse', 'arn:aws:iam::123456789012:user/me', `${ROLE}\n`, 'arn:aws:iam::1:role/x'];
    for (const roleArn of wrong) {
      const [requests, outcome] = await counted(() => assume({ roleArn }));
      expect([requests, outcome.ok || outcome.kind], roleArn).to.deep.equal([0, 'client']);
    }
    const [requests, outcome] = await counted(() => assume({}, { audience: '' }));
    expect([requests, outcome.ok || outcome.kind]).to.deep.equal([0, 'client']);
  });

  it('reports a session without a name, or a duration out of range, as an internal error', async () => {
    for (const changes of [{ sessionName: 'x y' }, { sessionName: 'x' }, { durationS: 899 }, { durationS: 43_201 }]) {
      const thrown = await assume(changes).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(RangeError);
    }
  });

  it('shows no secret, regardless of how the outcome is printed', async () => {
    const outcome = await assume();
    if (!outcome.ok) throw new Error(outcome.message);
    const { secret_access_key, session_token } = toTemporaryDetails(outcome.credentials);
    for (const text of [JSON.stringify(outcome), inspect(outcome, { depth: 9 }), String(outcome)]) {
      expect(text).not.to.include(secret_access_key).and.not.include(session_token);
    }
  });

  it('stores credentials under the names of the contract, and reads them back', async () => {
    const outcome = await assume();
    if (!outcome.ok) throw new Error(outcome.message);
    const details = toTemporaryDetails(outcome.credentials);
    expect(Object.keys(details)).to.deep.equal(['access_key_id', 'secret_access_key', 'session_token', 'expiry']);
    const again = fromTemporaryDetails({ db_user: 'analyst', ...details });
    expect(again && toTemporaryDetails(again)).to.deep.equal(details);
    expect(again?.expiresAt).to.equal(outcome.credentials.expiresAt);
    for (const name of Object.keys(details))
      expect(fromTemporaryDetails({ ...details, [name]: undefined })).to.equal(null);
    expect(fromTemporaryDetails({ ...details, expiry: 'soon' })).to.equal(null);
  });
});

describe('the claims of a token for an account', () => {
  it('name issuer, audience and subject, expire after five minutes, and have a unique id', () => {
    const identity = { issuer: 'https://valetkey.example', audience: AUDIENCE, subject: SUBJECT };
    const claims = identityClaims(identity, 1_750_000_000_999, (size) => Buffer.alloc(size, 1));
    expect(claims).to.deep.equal({
      iss: 'https://valetkey.example',
      aud: 'valetkey-at-acme',
      sub: 'environment:env_1:connection:conn_1:account:ca_1',
      iat: 1_750_000_000,
      exp: 1_750_000_300,
      jti: Buffer.alloc(16, 1).toString('base64url'),
    });
    expect(identityClaims(identity, 0, randomBytes).jti).not.to.equal(identityClaims(identity, 0, randomBytes).jti);
  });
});

describe('reading the response of a token service', () => {
  const AT = 1_750_000_000_000;

  async function answered(
    status: number,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<AssumeRoleOutcome> {
    const fetch: ProtocolFetch = async () => new Response(body, { status, headers });
    return assumeRole({
      endpoint: new URL('https://sts.example/'),
      roleArn: ROLE,
      sessionName: 'valetkey-ca_1',
      durationS: 3600,
      identity: { issuer: 'https://valetkey.example', audience: AUDIENCE, subject: SUBJECT },
      sign: () => 'token',
      fetch,
      now: () => AT,
      random: randomBytes,
    });
  }

  const failure = (code: string) =>
    `<ErrorResponse><Error><Code>${code}</Code><Message>leak</Message></Error></ErrorResponse>`;

  function success(changes: Record<string, string> = {}): string {
    const fields = {
      AccessKeyId: 'ASIAEXAMPLEEXAMPLE01',
      SecretAccessKey: 'a/secret+key',
      SessionToken: 'a/session+token==',
      Expiration: new Date(AT + 1_800_000).toISOString(),
      ...changes,
    };
    const xml = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${xml.join('')}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  }

  const cases: [title: string, status: number, body: string, expected: object][] = [
    ['a claim that is refused', 403, failure('IDPRejectedClaim'), { kind: 'client' }],
    ['a token that is refused', 400, failure('InvalidIdentityTokenException'), { kind: 'client' }],
    ['a region that is closed', 403, failure('RegionDisabledException'), { kind: 'client' }],
    ['a wrong request', 400, failure('ValidationError'), { kind: 'client' }],
    [
      'keys that could not be read',
      400,
      failure('IDPCommunicationError'),
      { kind: 'unavailable', reason: 'unreachable' },
    ],
    ['too many requests', 400, failure('Throttling'), { kind: 'unavailable', reason: 'rate_limited' }],
    ['429', 429, '', { kind: 'unavailable', reason: 'rate_limited' }],
    ['a failure', 500, failure('InternalFailure'), { kind: 'unavailable', reason: 'server_error' }],
    ['a failure with another code', 503, failure('AccessDenied'), { kind: 'unavailable', reason: 'server_error' }],
    ['a page', 200, '<html><body>Hello</body></html>', { kind: 'unavailable', reason: 'invalid_response' }],
    ['nothing', 200, '', { kind: 'unavailable', reason: 'invalid_response' }],
    ['a refusal without a code', 400, '<ErrorResponse/>', { kind: 'unavailable', reason: 'invalid_response' }],
    ['a redirect', 302, '', { kind: 'unavailable', reason: 'invalid_response' }],
    ['credentials with a failure', 400, success(), { kind: 'unavailable', reason: 'invalid_response' }],
    ['credentials without a secret', 200, success({ SecretAccessKey: '' }), { reason: 'invalid_response' }],
    ['a secret of several lines', 200, success({ SecretAccessKey: 'a&#10;b' }), { reason: 'invalid_response' }],
    ['a token that is no token', 200, success({ SessionToken: 'ü' }), { reason: 'invalid_response' }],
    ['an id that is none', 200, success({ AccessKeyId: 'short' }), { reason: 'invalid_response' }],
    ['credentials without an end', 200, success({ Expiration: 'never' }), { reason: 'invalid_response' }],
    [
      'credentials that have ended',
      200,
      success({ Expiration: new Date(AT).toISOString() }),
      { reason: 'invalid_response' },
    ],
  ];
  for (const [title, status, body, expected] of cases) {
    it(`classifies ${title}`, async () => expect(await answered(status, body)).to.include({ ok: false, ...expected }));
  }

  it('rejects a duration that is longer than requested', async () => {
    const ends = async (ms: number) => {
      const outcome = await answered(200, success({ Expiration: new Date(AT + ms).toISOString() }));
      return outcome.ok && outcome.credentials.expiresAt - AT;
    };
    expect(await ends(1_800_000)).to.equal(1_800_000);
    expect(await ends(36_000_000)).to.equal(3_600_000);
  });

  it('includes nothing of the response in its messages except codes', async () => {
    for (const body of [failure('leak me'), failure('AccessDenied'), failure(''), '<leak/>']) {
      for (const status of [200, 400, 403, 500]) {
        expect(JSON.stringify(await answered(status, body))).not.to.include('leak');
      }
    }
  });
});
