import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { Secret } from '../../../core/secret.ts';
import type { OutboundRequest, UpstreamResponse } from '../../../core/tools/execute.ts';
import { assumeRole } from '../../../core/trusted-idp/assume-role.ts';
import { discoveryDocument } from '../../../core/trusted-idp/discovery-document.ts';
import { tokenServiceEndpoint, warehouseEndpoint } from '../../../core/trusted-idp/endpoints.ts';
import { identitySubject } from '../../../core/trusted-idp/identity-token.ts';
import { type SigningCredentials, signRequestV4 } from '../../../core/trusted-idp/sign-v4.ts';
import { judgeDescription, judgeExecution, judgeResult } from '../../../core/trusted-idp/statement-answers.ts';
import {
  describeStatement,
  executeStatement,
  getStatementResult,
  WAREHOUSE_SERVICE,
} from '../../../core/trusted-idp/statement-requests.ts';
import type { TemporaryCredentials } from '../../../core/trusted-idp/temporary-credentials.ts';
import { type WarehouseTarget, warehouseTarget } from '../../../core/trusted-idp/warehouse-target.ts';
import { closeAll, egressTo } from '../net/local.ts';
import { type Cloud, REGION, ROLE, startCloud } from './cloud.ts';
import { type Issuer, startIssuer } from './issuer.ts';

const CLUSTER: WarehouseTarget = { database: 'dev', clusterIdentifier: 'main', dbUser: 'analyst' };
const WORKGROUP: WarehouseTarget = { database: 'dev', workgroupName: 'default' };
const STATEMENT = { sql: 'select 1', clientToken: 'exec_1' };
const SUBJECT = identitySubject({ environmentId: 'env_1', connectionId: 'conn_1', id: 'ca_1' });

describe('statements at a data warehouse that recomputes signatures', () => {
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
    return signRequestV4(request, held, { region, service: WAREHOUSE_SERVICE }, at);
  }

  /** Sends by the path of tool calls. */
  async function send({ method, url, headers, body }: OutboundRequest): Promise<UpstreamResponse> {
    const allowedOrigins = [cloud.warehouse.origin];
    return egressTo(cloud.warehouse).send({ method, url: new URL(url), headers, allowedOrigins, body });
  }

  describe('are refused (negative controls)', () => {
    const execute = () => executeStatement(endpoint, WORKGROUP, STATEMENT);

    async function refusalOf(request: OutboundRequest): Promise<string | null> {
      const judged = judgeExecution(await send(request));
      if (judged.ok) throw new Error('The call was taken.');
      expect(judged.kind).to.equal('upstream_auth');
      return judged.code;
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

    it('with a date that is past', async () => {
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

    it('with credentials that have ended, and are taken with new ones', async () => {
      const held = await credentials();
      cloud.endCredentials();
      expect(await refusalOf(sign(execute(), held))).to.equal('ExpiredTokenException');
      expect(judgeExecution(await send(sign(execute(), await credentials()))).ok).to.equal(true);
    });
  });

  it('run in a workgroup without a database user, and give their rows', async () => {
    const held = await credentials();
    const parameters = { from: '2026-01-01' };
    const executed = judgeExecution(
      await send(sign(executeStatement(endpoint, WORKGROUP, { ...STATEMENT, parameters }), held)),
    );
    expect(executed).to.deep.equal({ ok: true, value: { id: 'statement-1' } });
    expect(cloud.asked.at(-1)).to.deep.equal({
      operation: 'ExecuteStatement',
      input: {
        WorkgroupName: 'default',
        Database: 'dev',
        Sql: 'select 1',
        Parameters: [{ name: 'from', value: '2026-01-01' }],
        ClientToken: 'exec_1',
      },
    });
    const described = judgeDescription(await send(sign(describeStatement(endpoint, 'statement-1'), held)));
    expect(described).to.deep.equal({ ok: true, value: { state: 'finished', hasResult: true, error: null } });
    const result = judgeResult(await send(sign(getStatementResult(endpoint, 'statement-1'), held)));
    expect(result).to.deep.equal({
      ok: true,
      value: {
        columns: [
          { name: 'user', type: 'varchar' },
          { name: 'seen', type: 'int8' },
        ],
        rows: [['maria', null]],
        totalRows: 1,
        nextToken: null,
      },
    });
    await send(sign(getStatementResult(endpoint, 'statement-1', 'page-2'), held));
    expect(cloud.asked.at(-1)?.input).to.deep.equal({ Id: 'statement-1', NextToken: 'page-2' });
  });

  it('run in a cluster as one of its users', async () => {
    const executed = judgeExecution(
      await send(sign(executeStatement(endpoint, CLUSTER, STATEMENT), await credentials())),
    );
    expect(executed.ok).to.equal(true);
    expect(cloud.asked.at(-1)?.input).to.include({ ClusterIdentifier: 'main', DbUser: 'analyst' });
  });

  it('that are not known are not found', async () => {
    const judged = judgeDescription(await send(sign(describeStatement(endpoint, 'other'), await credentials())));
    expect(judged).to.deep.equal({
      ok: false,
      kind: 'upstream_not_found',
      code: 'ResourceNotFoundException',
      message: 'There is no such statement.',
    });
  });
});

describe('where statements run', () => {
  it('is a workgroup, whoever the database user is, or a cluster with its user', () => {
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
    it(`is not known from ${JSON.stringify(config)} and ${JSON.stringify(user)}`, () => {
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

describe('judging the answer of a data warehouse', () => {
  function answer(status: number, body: unknown, headers: Record<string, string> = {}): UpstreamResponse {
    return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
  }

  const failures: [string, UpstreamResponse, string, string | null][] = [
    ['ended credentials', answer(400, { __type: 'ExpiredTokenException' }), 'upstream_auth', 'ExpiredTokenException'],
    [
      'a missing right',
      answer(400, { __type: 'AccessDeniedException' }),
      'upstream_forbidden',
      'AccessDeniedException',
    ],
    ['throttling', answer(400, { __type: 'x.y#ThrottlingException' }), 'upstream_rate_limited', 'ThrottlingException'],
    [
      'a full queue',
      answer(400, { __type: 'ActiveStatementsExceededException' }),
      'upstream_rate_limited',
      'ActiveStatementsExceededException',
    ],
    [
      'a wrong statement',
      answer(400, { __type: 'ValidationException' }),
      'upstream_bad_request',
      'ValidationException',
    ],
    [
      'a code in a header',
      answer(400, '', { 'x-amzn-errortype': 'ResourceNotFoundException:http://x/' }),
      'upstream_not_found',
      'ResourceNotFoundException',
    ],
    [
      'its own trouble',
      answer(500, { __type: 'InternalServerException' }),
      'upstream_server_error',
      'InternalServerException',
    ],
    ['an unknown code', answer(400, { __type: 'TeapotException' }), 'upstream_bad_request', 'TeapotException'],
    ['a code that is none', answer(403, { __type: 'a b' }), 'upstream_forbidden', null],
    ['a page', answer(502, '<h1>Bad gateway</h1>'), 'upstream_server_error', null],
    ['a redirect', answer(302, ''), 'upstream_invalid_response', null],
    ['a success that is none', answer(200, '<h1>Hello</h1>'), 'upstream_invalid_response', null],
    ['a success without an id', answer(200, {}), 'upstream_invalid_response', null],
  ];
  for (const [title, given, kind, code] of failures) {
    it(`knows ${title}`, () => expect(judgeExecution(given)).to.include({ ok: false, kind, code }));
  }

  it('says it in the words of the warehouse, cut to a length', () => {
    const judged = judgeExecution(answer(400, { __type: 'ValidationException', message: 'x'.repeat(1000) }));
    expect(judged.ok || judged.message).to.equal('x'.repeat(500));
    const silent = judgeExecution(answer(400, {}));
    expect(silent.ok || silent.message).to.equal('The warehouse answered 400.');
  });

  it('tells the states of a statement apart', () => {
    const state = (body: object) => {
      const judged = judgeDescription(answer(200, body));
      return judged.ok ? judged.value : judged.kind;
    };
    for (const status of ['SUBMITTED', 'PICKED', 'STARTED'])
      expect(state({ Status: status })).to.include({ state: 'running' });
    expect(state({ Status: 'ABORTED' })).to.include({ state: 'aborted', hasResult: false });
    expect(state({ Status: 'FAILED', Error: 'ERROR: relation' })).to.deep.include({
      state: 'failed',
      error: 'ERROR: relation',
    });
    expect(state({ Status: 'constructor' })).to.equal('upstream_invalid_response');
  });

  it('reads every kind of cell, and keeps all digits of a whole number', () => {
    const body = `{"ColumnMetadata":[{"name":"a"},7],"Records":[[{"longValue":9223372036854775807},{"longValue":-7},
      {"doubleValue":1.5},{"doubleValue":1e30},{"booleanValue":false},{"blobValue":"AAE="},{"stringValue":""},{"isNull":true},{},7]],
      "TotalNumRows":1,"NextToken":"page-2"}`;
    const judged = judgeResult(answer(200, body));
    expect(judged).to.deep.equal({
      ok: true,
      value: {
        columns: [
          { name: 'a', type: '' },
          { name: '', type: '' },
        ],
        rows: [['9223372036854775807', -7, 1.5, 1e30, false, 'AAE=', '', null, null, null]],
        totalRows: 1,
        nextToken: 'page-2',
      },
    });
    expect(judgeResult(answer(200, { ColumnMetadata: [], Records: [7] })).ok).to.equal(false);
  });
});

describe('the places of a cloud', () => {
  it('follow from the region', () => {
    expect(tokenServiceEndpoint('eu-central-1').href).to.equal('https://sts.eu-central-1.amazonaws.com/');
    expect(warehouseEndpoint('us-gov-west-1').href).to.equal('https://redshift-data.us-gov-west-1.amazonaws.com/');
    expect(warehouseEndpoint('cn-north-1').href).to.equal('https://redshift-data.cn-north-1.amazonaws.com.cn/');
  });

  it('are none for what is no region', () => {
    for (const region of [
      '',
      'evil.example#',
      'eu-central-1.evil.example/',
      'EU-central-1',
      'eu-central-1\n',
      '@x-y-1',
      'eu_central_1',
    ]) {
      expect(() => tokenServiceEndpoint(region), region).to.throw(ApiError);
    }
  });
});

describe('what a cloud reads of our issuer (OpenID Connect Discovery 1.0 §3)', () => {
  it('names issuer, keys and algorithms, and nowhere to sign in', () => {
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
