import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { Secret } from '../../../core/secret.ts';
import type { OutboundRequest, UpstreamResponse } from '../../../core/tools/wire.ts';
import { assumeRole } from '../../../core/trusted-idp/assume-role.ts';
import { discoveryDocument } from '../../../core/trusted-idp/discovery-document.ts';
import { identitySubject } from '../../../core/trusted-idp/identity-token.ts';
import { type SigningCredentials, signRequestV4 } from '../../../core/trusted-idp/sign-v4.ts';
import type { TemporaryCredentials } from '../../../core/trusted-idp/temporary-credentials.ts';
import { type WarehouseTarget, warehouseTarget } from '../../../core/trusted-idp/warehouse-target.ts';
import { closeAll, egressTo } from '../net/local.ts';
import { type Cloud, REGION, ROLE, startCloud } from './cloud.ts';
import { type Issuer, startIssuer } from './issuer.ts';

const CLUSTER: WarehouseTarget = { database: 'dev', clusterIdentifier: 'main', dbUser: 'analyst' };
const WORKGROUP: WarehouseTarget = { database: 'dev', workgroupName: 'default' };
const SUBJECT = identitySubject({ environmentId: 'env_1', connectionId: 'conn_1', id: 'ca_1' });

describe('statements at a data warehouse that verifies signatures', () => {
  let issuer: Issuer;
  let cloud: Cloud;
  let endpoint: URL;

  before(async () => {
    issuer = await startIssuer();
    cloud = await startCloud({ issuer: issuer.url, audience: 'valetkey', subjects: [SUBJECT] });
    endpoint = new URL('/', cloud.warehouse.origin);
  });
  after(closeAll);

  async function credentials(): Promise<TemporaryCredentials> {
    const outcome = await assumeRole({
      endpoint: new URL('/', cloud.tokenService.origin),
      roleArn: ROLE,
      sessionName: 'valetkey-ca_1',
      durationS: 900,
      identity: { issuer: issuer.url, audience: 'valetkey', subject: SUBJECT },
      sign: issuer.sign,
      fetch: egressTo(cloud.tokenService).pinnedFetch([cloud.tokenService.origin]),
      now: Date.now,
      random: randomBytes,
    });
    if (!outcome.ok) throw new Error(outcome.message);
    return outcome.credentials;
  }

  function sign(request: OutboundRequest, held: SigningCredentials, at = Date.now(), region = REGION): OutboundRequest {
    return signRequestV4(request, held, { region, service: 'redshift-data' }, at);
  }

  /** Sends a request as tool calls do. */
  async function send({ method, url, headers, body }: OutboundRequest): Promise<UpstreamResponse> {
    const allowedOrigins = [cloud.warehouse.origin];
    return egressTo(cloud.warehouse).send({ method, url: new URL(url), headers, allowedOrigins, body });
  }

  describe('are refused (negative controls)', () => {
    const execute = (): OutboundRequest => ({
      method: 'POST',
      url: endpoint.href,
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'RedshiftData.ExecuteStatement' },
      body: JSON.stringify({ WorkgroupName: 'default', Database: 'dev', Sql: 'select 1' }),
    });

    async function refusalOf(request: OutboundRequest): Promise<string> {
      const { status, body } = await send(request);
      expect(status).to.equal(400);
      return JSON.parse(body.toString()).__type;
    }

    it('without a signature', async () => {
      expect(await refusalOf(execute())).to.equal('MissingAuthenticationTokenException');
    });

    it('with another secret', async () => {
      const held = { ...(await credentials()), secretAccessKey: new Secret('guessed') };
      expect(await refusalOf(sign(execute(), held))).to.equal('InvalidSignatureException');
    });

    it('with the session token of other credentials', async () => {
      const { sessionToken } = await credentials();
      expect(await refusalOf(sign(execute(), { ...(await credentials()), sessionToken }))).to.equal(
        'UnrecognizedClientException',
      );
    });

    it('without the session token', async () => {
      const held = { ...(await credentials()), sessionToken: null };
      expect(await refusalOf(sign(execute(), held))).to.equal('UnrecognizedClientException');
    });

    it('with a date in the past', async () => {
      const signed = sign(execute(), await credentials(), Date.now() - 600_000);
      expect(await refusalOf(signed)).to.equal('InvalidSignatureException');
    });

    it('with a new date on an old signature', async () => {
      const signed = sign(execute(), await credentials(), Date.now() - 200_000);
      const fresh = sign(execute(), await credentials()).headers['x-amz-date'] as string;
      const altered = { ...signed, headers: { ...signed.headers, 'x-amz-date': fresh } };
      expect(await refusalOf(altered)).to.equal('InvalidSignatureException');
    });

    it('with another body or another operation than was signed', async () => {
      const signed = sign(execute(), await credentials());
      const body = String(signed.body).replace('select 1', 'drop table users');
      expect(await refusalOf({ ...signed, body })).to.equal('InvalidSignatureException');
      const headers = { ...signed.headers, 'x-amz-target': 'RedshiftData.CancelStatement' };
      expect(await refusalOf({ ...signed, headers })).to.equal('InvalidSignatureException');
    });

    it('in another region', async () => {
      const signed = sign(execute(), await credentials(), Date.now(), 'us-east-1');
      expect(await refusalOf(signed)).to.equal('InvalidSignatureException');
    });

    it('with expired credentials, and are accepted with new ones', async () => {
      const held = await credentials();
      cloud.endCredentials();
      expect(await refusalOf(sign(execute(), held))).to.equal('ExpiredTokenException');
      expect((await send(sign(execute(), await credentials()))).status).to.equal(200);
    });
  });
});

describe('the target of statements', () => {
  it('is a workgroup with any database user, or a cluster with its user', () => {
    const workgroup = { database: 'dev', workgroup_name: 'default' };
    expect(warehouseTarget(workgroup, 'analyst')).to.deep.equal(WORKGROUP);
    expect(warehouseTarget(workgroup, null)).to.deep.equal(WORKGROUP);
    expect(warehouseTarget({ database: 'dev', cluster_identifier: 'main' }, 'analyst')).to.deep.equal(CLUSTER);
  });

  const cases: [object, string | null, string, string][] = [
    [{ cluster_identifier: 'main' }, 'analyst', 'INVALID_API_CONFIG', 'database'],
    [{ database: 'dev' }, 'analyst', 'INVALID_API_CONFIG', 'cluster_identifier'],
    [{ database: 'dev', cluster_identifier: 7 }, 'analyst', 'INVALID_API_CONFIG', 'cluster_identifier'],
    [{ database: 'dev', cluster_identifier: 'a', workgroup_name: 'b' }, 'x', 'INVALID_API_CONFIG', 'workgroup_name'],
    [{ database: 'dev', cluster_identifier: 'main' }, null, 'INVALID_AUTHORIZATION_DETAILS', 'db_user'],
    [{ database: 'dev', cluster_identifier: 'main' }, '', 'INVALID_AUTHORIZATION_DETAILS', 'db_user'],
  ];
  for (const [config, user, code, field] of cases) {
    it(`is undefined for ${JSON.stringify(config)} and ${JSON.stringify(user)}`, () => {
      try {
        warehouseTarget(config as Record<string, unknown>, user);
        expect.fail('a target');
      } catch (error) {
        expect(error).to.be.instanceOf(ApiError);
        expect((error as ApiError).code).to.equal(code);
        expect((error as ApiError).errors?.map((each) => each.field.split('.').at(-1))).to.deep.equal([field]);
      }
    });
  }
});

describe('the metadata of our issuer (OpenID Connect Discovery 1.0 §3)', () => {
  it('contain issuer, keys and algorithms, and no authorization endpoint', () => {
    const document = discoveryDocument('https://valetkey.example', 'https://valetkey.example/jwks', ['ES256']);
    expect(document).to.deep.equal({
      issuer: 'https://valetkey.example',
      jwks_uri: 'https://valetkey.example/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
    });
  });
});
