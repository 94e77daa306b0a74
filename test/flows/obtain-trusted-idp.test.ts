import { ExecuteStatementCommand, RedshiftDataClient } from '@aws-sdk/client-redshift-data';
import { AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { signIdentityToken } from '../../core/tokens/identity-token.ts';
import { identityClaims } from '../../core/trusted-idp/identity-token.ts';
import { closeAll } from '../core/net/local.ts';
import { type Cloud, REGION, ROLE, startCloud } from '../core/trusted-idp/cloud.ts';
import { createAccount } from '../support/accounts.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';

const ISSUER = 'https://keys.acme.example';
const STS = `https://sts.${REGION}.amazonaws.com`;
const WAREHOUSE = `redshift-data.${REGION}.amazonaws.com`;
const AUDIENCE = 'sts.amazonaws.com';
const CLUSTER = { role_arn: ROLE, region: REGION, database: 'dev', cluster_identifier: 'main' };
const WORKGROUP = { role_arn: ROLE, region: REGION, database: 'dev', workgroup_name: 'default' };

describe('an account of a cloud that trusts this server, over sockets', () => {
  let cloud: Cloud;
  let server: TestServer;
  let clock: TestClock;
  let subjects: string[];

  beforeEach(async () => {
    clock = testClock(Date.now());
    subjects = [];
    const trust = { issuer: ISSUER, audience: AUDIENCE, subjects, warehouseHost: WAREHOUSE, now: clock.now, reach: '' };
    cloud = await startCloud(trust);
    server = await startTestServer({
      env: {
        BASE_URL: ISSUER,
        VALETKEY_ENDPOINT_OVERRIDES: `${STS}=${cloud.tokenService.origin},https://${WAREHOUSE}=${cloud.warehouse.origin}`,
      },
      overrides: { now: clock.now },
    });
    trust.reach = server.origin;
  });
  afterEach(async () => {
    await server.stop();
    await closeAll();
  });

  async function connect(apiConfig: object, trustedIdp: object, isTrusted = true): Promise<string> {
    const connectedAccount = { api_config: apiConfig, authorization_details: { trusted_idp: trustedIdp } };
    const { id } = await createAccount(server, { connector: 'redshift', connectedAccount });
    if (isTrusted) subjects.push(await subjectOf(id));
    return id;
  }

  /** Builds the subject as the documentation describes it for an administrator of the cloud. */
  async function subjectOf(id: string): Promise<string> {
    const { environmentId, connectionId } = await accountRow(server, id);
    return `environment:${environmentId}:connection:${connectionId}:account:${id}`;
  }

  const run = (id: string, sql = 'select 1') => execute(server, id, 'redshift_execute_statement', { sql });

  async function shown(id: string, operation: 'auth' | 'details'): Promise<Record<string, string>> {
    const { status, body, text } = await server.call('GET', `/api/v1/connected_accounts/${operation}?id=${id}`);
    expect(status, text).to.equal(200);
    return body.connected_account.authorization_details.trusted_idp;
  }

  it('is refused by a role that does not trust it, and stays active, because that can change (negative control)', async () => {
    const id = await connect(WORKGROUP, {}, false);
    const { body } = await run(id);
    expect(body.tool_error, JSON.stringify(body)).to.include({ kind: 'upstream_auth', retryable: false });
    expect(body.tool_error.message).to.contain('AccessDenied');
    expect([cloud.assumed.length, cloud.asked.length]).to.deep.equal([1, 0]);
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
  });

  it('is refused if the cloud trusts another issuer (negative control)', async () => {
    const { key_id: connector } = await createConnection(server, { connector: 'redshift', client_id: 'another' });
    const connectedAccount = { api_config: WORKGROUP, authorization_details: { trusted_idp: {} } };
    const { id } = await createAccount(server, { connector, connectedAccount });
    subjects.push(await subjectOf(id));
    expect((await run(id)).body.tool_error.message).to.contain('InvalidIdentityToken');
    expect(decodeJwt(cloud.assumed[0]?.get('WebIdentityToken') ?? '').aud).to.equal('another');
  });

  it('runs statements with one set of temporary credentials for 50 callers (R1)', async () => {
    const id = await connect(WORKGROUP, {});
    const answers = await Promise.all(Array.from({ length: 50 }, () => run(id)));
    for (const { body, text } of answers) expect(body.data?.Id, text).to.equal('statement-1');
    expect([cloud.assumed.length, cloud.asked.length]).to.deep.equal([1, 50]);
    const claims = decodeJwt(cloud.assumed[0]?.get('WebIdentityToken') ?? '');
    expect(claims).to.include({ iss: ISSUER, aud: AUDIENCE, sub: await subjectOf(id) });
  });

  it('ignores a database user in a workgroup, and uses that of a cluster', async () => {
    const serverless = await connect(WORKGROUP, { db_user: 'analyst' });
    await run(serverless);
    expect(cloud.asked.at(-1)?.input).to.deep.equal({
      Database: 'dev',
      WorkgroupName: 'default',
      Sql: 'select 1',
    });
    const provisioned = await connect(CLUSTER, { db_user: 'analyst' });
    await run(provisioned);
    expect(cloud.asked.at(-1)?.input).to.deep.equal({
      Database: 'dev',
      ClusterIdentifier: 'main',
      DbUser: 'analyst',
      Sql: 'select 1',
    });
  });

  it('names the missing value before anything is sent', async () => {
    const { database: _database, ...config } = WORKGROUP;
    const { body } = await run(await connect(config, {}));
    expect(body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
    expect(body.errors[0].field).to.equal('connected_account.api_config.database');
    expect(cloud.assumed).to.deep.equal([]);
  });

  it('returns rows and pages, and every digit of an integer', async () => {
    const id = await connect(WORKGROUP, {});
    const result = await execute(server, id, 'redshift_get_statement_result', { id: 'statement-1' });
    expect(result.body.data.Records).to.deep.equal([[{ stringValue: 'maria' }, { longValue: '9007199254740993' }]]);
    const first = await execute(server, id, 'redshift_list_databases', {});
    expect(first.body.data).to.deep.equal({ Databases: ['dev', 'sales'] });
    await execute(server, id, 'redshift_list_databases', { cursor: first.body.next_cursor });
    expect(cloud.asked.at(-1)?.input).to.include({ NextToken: 'page-2' });
    const unknown = await execute(server, id, 'redshift_describe_statement', { id: 'other' });
    expect(unknown.body.tool_error).to.include({ kind: 'upstream_not_found' });
  });

  it('renews its credentials before they expire, and immediately when the warehouse rejects them', async () => {
    const id = await connect(WORKGROUP, {});
    await run(id);
    clock.advance(3_600_000 - 30_000);
    expect((await run(id)).status).to.equal(200);
    expect(cloud.assumed).to.have.length(2);
    clock.advance(60_000);
    cloud.endCredentials();
    expect((await run(id)).body.data.Id).to.equal('statement-1');
    expect(cloud.assumed).to.have.length(3);
  });

  it('shows the key id and the expiry of its credentials, and never their secrets', async () => {
    const id = await connect(CLUSTER, { db_user: 'analyst' });
    await run(id);
    for (const operation of ['auth', 'details'] as const) {
      const { access_key_id: name, ...rest } = await shown(id, operation);
      expect(name, operation).to.match(/^ASIA/);
      expect(rest).to.deep.equal({
        db_user: 'analyst',
        expiry: new Date(Math.floor((clock.now() + 3_600_000) / 1000) * 1000).toISOString(),
      });
    }
  });

  it('deletes its credentials when its role changes', async () => {
    const id = await connect(WORKGROUP, {});
    await run(id);
    const body = { id, connected_account: { api_config: { role_arn: `${ROLE}-2` } } };
    expect((await server.call('PUT', '/api/v1/connected_accounts', { body })).status).to.equal(200);
    expect((await run(id)).body.tool_error.message).to.contain('AccessDenied');
  });

  it('previews a call before it has any credentials, without secrets', async () => {
    const id = await connect(WORKGROUP, {});
    const { body } = await execute(
      server,
      id,
      'redshift_execute_statement',
      { sql: 'select 1' },
      { body: { dry_run: true } },
    );
    const { headers, url, body: sent } = body.dry_run_request;
    expect([url, sent.Sql, headers['x-amz-date']]).to.deep.equal([`https://${WAREHOUSE}/`, 'select 1', '[secret]']);
    expect(headers.authorization).to.equal(
      `AWS4-HMAC-SHA256 Credential=[secret]/[secret]/${REGION}/redshift-data/aws4_request, ` +
        'SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[secret]',
    );
    expect(cloud.assumed).to.deep.equal([]);
  });

  it('signs calls of any service for a custom provider that names the service', async () => {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: `https://${WAREHOUSE}`,
      auth_patterns: [
        {
          type: 'TRUSTED_IDP',
          account_fields: [
            { field_name: 'region', label: 'Region', input_type: 'text', required: true, is_path_param: true },
          ],
          oauth_config: {
            token_uri: 'https://sts.{{region}}.amazonaws.com/',
            identity_audience: AUDIENCE,
            signing_service: 'redshift-data',
          },
        },
      ],
    });
    const connectedAccount = {
      api_config: { role_arn: ROLE, region: REGION, workgroup_name: 'x' },
      authorization_details: { trusted_idp: {} },
    };
    const { id } = await createAccount(server, { connector: identifier, connectedAccount });
    subjects.push(await subjectOf(id));
    const { body } = await execute(server, id, 'http_get', { path: '/' });
    // The warehouse requires a signed header that a GET does not have. Its rejection shows that the call reached it.
    expect(body.tool_error).to.include({ upstream_status: 400 });
    expect(cloud.assumed).to.have.length(1);
  });

  describe('sends the same as the cloud’s own client (oracle: AWS SDK)', () => {
    it('to the token service', async () => {
      const id = await connect(WORKGROUP, {});
      await run(id);
      const ours = Object.fromEntries(cloud.assumed[0] ?? []);
      const identity = { issuer: ISSUER, audience: AUDIENCE, subject: await subjectOf(id) };
      const token = signIdentityToken(
        server.parts.signingKeys.current,
        identityClaims(identity, clock.now(), server.parts.random),
      );
      const sts = new STSClient({ region: REGION, endpoint: cloud.tokenService.origin });
      const { Credentials } = await sts.send(
        new AssumeRoleWithWebIdentityCommand({
          RoleArn: ROLE,
          RoleSessionName: id,
          DurationSeconds: 3600,
          WebIdentityToken: token,
        }),
      );
      expect(Credentials?.AccessKeyId).to.match(/^ASIA/);
      const theirs = Object.fromEntries(cloud.assumed[1] ?? []);
      const plain = ({ WebIdentityToken: _token, ...rest }: Record<string, string>) => rest;
      expect(plain(ours)).to.deep.equal(plain(theirs));
    });

    it('to the warehouse', async () => {
      const id = await connect(CLUSTER, { db_user: 'analyst' });
      await run(id);
      const sts = new STSClient({ region: REGION, endpoint: cloud.tokenService.origin });
      const { Credentials } = await sts.send(
        new AssumeRoleWithWebIdentityCommand({
          RoleArn: ROLE,
          RoleSessionName: id,
          WebIdentityToken: cloud.assumed[0]?.get('WebIdentityToken') ?? '',
          DurationSeconds: 900,
        }),
      );
      const warehouse = new RedshiftDataClient({
        region: REGION,
        endpoint: cloud.warehouse.origin,
        credentials: {
          accessKeyId: Credentials?.AccessKeyId ?? '',
          secretAccessKey: Credentials?.SecretAccessKey ?? '',
          sessionToken: Credentials?.SessionToken ?? '',
        },
      });
      // The client of AWS signs the host that it calls, which is the warehouse's local address.
      cloud.reachedAs(null);
      const { Id } = await warehouse.send(
        new ExecuteStatementCommand({ Database: 'dev', ClusterIdentifier: 'main', DbUser: 'analyst', Sql: 'select 1' }),
      );
      expect(Id).to.equal('statement-1');
      const [ours, theirs] = cloud.asked;
      const { ClientToken: _token, ...rest } = theirs?.input ?? {};
      expect(ours).to.deep.equal({ operation: theirs?.operation, input: rest });
    });
  });
});
