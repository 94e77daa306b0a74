import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const TOKENS = { oauth_token: { access_token: 'an-access-token-of-a-user' } };
const keyOf = (details: Record<string, string>) => ({ static_auth: { details } });

/** An error response as the vendor documents it, and the reason that the `detail` for the model must contain. */
interface Refusal {
  connector: string;
  origin: string;
  account: object;
  tool: string;
  input: object;
  status: number;
  body: object;
  says: string;
}

const REFUSALS: Record<string, Refusal> = {
  'Jira, whose general list is empty': {
    connector: 'jira',
    origin: 'https://api.atlassian.com',
    account: { api_config: { cloud_id: '11223344-a1b2-3b33-c444-def123456789' }, authorization_details: TOKENS },
    tool: 'create_issue',
    input: { project_key: 'WEB', issue_type: 'Task', summary: 'A task' },
    status: 400,
    body: { errorMessages: [], errors: { summary: 'You must specify a summary of the issue.' } },
    says: 'summary: You must specify a summary of the issue.',
  },
  'GitLab, whose message is an object': {
    connector: 'gitlab',
    origin: 'https://gitlab.com',
    account: { authorization_details: keyOf({ token: 'glpat-aBcDeFgHiJkLmNoPqRsT' }) },
    tool: 'create_issue',
    input: { project: 'octo-group/website', title: 'A bug' },
    status: 400,
    body: { message: { title: ["can't be blank"] } },
    says: "title: can't be blank",
  },
  'Discord, whose errors are a tree': {
    connector: 'discord_bot',
    origin: 'https://discord.com',
    account: {
      authorization_details: keyOf({
        api_key: 'MTAxNTc0NjQ5NDM1MDQ2OTE4.GcXyZ1.aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789AB',
      }),
    },
    tool: 'send_message',
    input: { channel_id: '1015746494350469180', text: 'Hello' },
    status: 400,
    body: {
      code: 50_035,
      message: 'Invalid Form Body',
      errors: { content: { _errors: [{ code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }] } },
    },
    says: 'Invalid Form Body: content: This field is required',
  },
  'Zendesk, which describes each field': {
    connector: 'zendesk',
    origin: 'https://acme.zendesk.com',
    account: { api_config: { subdomain: 'acme' }, authorization_details: TOKENS },
    tool: 'create_ticket',
    input: { subject: 'Refund', text: 'Where is it?' },
    status: 422,
    body: {
      error: 'RecordInvalid',
      description: 'Record validation errors',
      details: { requester: [{ description: 'Requester: Email is invalid', error: 'InvalidValue' }] },
    },
    says: 'Record validation errors: requester: Requester: Email is invalid',
  },
  'PagerDuty, which lists errors': {
    connector: 'pagerduty',
    origin: 'https://api.pagerduty.com',
    account: { authorization_details: keyOf({ api_key: 'u+aBcDeFgHiJkLmNoPqR' }) },
    tool: 'list_services',
    input: {},
    status: 400,
    body: { error: { code: 2001, message: 'Invalid Input Provided', errors: ['Query is too long.'] } },
    says: 'Invalid Input Provided: Query is too long.',
  },
  'GitHub, which names fields by codes': {
    connector: 'github',
    origin: 'https://api.github.com',
    account: { authorization_details: keyOf({ token: 'ghp_aBcDeFgHiJkLmNoPqRsT' }) },
    tool: 'create_issue',
    input: { owner: 'octocat', repo: 'hello-world', title: 'A bug' },
    status: 422,
    body: { message: 'Validation Failed', errors: [{ resource: 'Issue', field: 'title', code: 'missing_field' }] },
    says: 'Validation Failed: title: missing_field',
  },
};

describe('the reason of a refusal', () => {
  let upstream: Upstream;
  let server: TestServer;
  before(async () => {
    upstream = await startUpstream();
    const overrides = Object.values(REFUSALS).map(({ origin }) => upstream.endpointOverride(origin));
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  for (const [name, refusal] of Object.entries(REFUSALS)) {
    it(`is shown for ${name}`, async () => {
      const { connector, tool, input, status, body, says } = refusal;
      upstream.handler = (_request, res) => json(res, status, body);
      const { id } = await createAccount(server, { connector, connectedAccount: { ...refusal.account } });
      const answer = await execute(server, id, `${connector}_${tool}`, { ...input });
      expect(answer.status, answer.text).to.equal(502);
      expect(answer.body.tool_error).to.deep.include({ upstream_status: status, upstream_body: body });
      expect(answer.body.detail, answer.text).to.equal(`The provider returned ${status}: ${says}`);
    });
  }
});
