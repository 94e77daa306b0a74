import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { auditOf } from '../support/audit.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { OVERLAYS_PATH, removeOverlay, setOverlay } from '../support/tool-overlays.ts';

const TOOL = 'github_create_issue';

describe('setToolOverlay', () => {
  let server: TestServer;
  let other: Awaited<ReturnType<typeof addSecondEnvironment>>;
  let connector: string;

  const set = (name: string, body: Record<string, unknown>) => server.call('PUT', `${OVERLAYS_PATH}/${name}`, { body });
  const fieldsOf = async (body: Record<string, unknown>, name = TOOL) => {
    const answer = await set(name, body);
    expect(answer.body, answer.text).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    return (answer.body.errors as { field: string }[]).map(({ field }) => field);
  };

  before(async () => {
    server = await startTestServer();
    other = await addSecondEnvironment(server);
    connector = (await createProvider(server)).identifier;
  });
  after(() => server.stop());

  describe('200', () => {
    it('stores an overlay, and replaces it as a whole', async () => {
      const preset_inputs = { owner: 'acme', repo: 'shop' };
      const first = await setOverlay(server, TOOL, { preset_inputs, allowed_values: { labels: ['bug'] } });
      const { created_at, updated_at, ...rest } = first.body.overlay;
      expect(created_at).to.equal(updated_at);
      expect(rest).to.deep.equal({
        tool_name: TOOL,
        hidden: false,
        new_name: null,
        title: null,
        added_description: null,
        preset_inputs,
        allowed_values: { labels: ['bug'] },
        status: 'ACTIVE',
        status_reason: null,
      });
      const second = (await setOverlay(server, TOOL, { added_description: 'For bugs.' })).body.overlay;
      expect(second).to.deep.include({
        added_description: 'For bugs.',
        preset_inputs: {},
        allowed_values: {},
        created_at,
      });
      const actions = (await auditOf(server, TOOL)).map(({ action }) => action);
      expect(actions).to.deep.equal(['tool_overlay.updated', 'tool_overlay.updated']);
      await removeOverlay(server, TOOL);
    });

    it("restricts the environment's own tools as well", async () => {
      await storeTools(server, [ownTool(connector, 'mine_get_restricted')]);
      await setOverlay(server, 'mine_get_restricted', { allowed_values: { number: [1, 2] } });
      const { tool } = (await server.call('GET', '/api/v1/tools/mine_get_restricted')).body;
      expect(tool.input_schema.properties.number.enum).to.deep.equal([1, 2]);
    });

    it('changes nothing in another environment', async () => {
      await setOverlay(server, 'github_get_issue', { hidden: true });
      expect((await server.call('GET', '/api/v1/tools/github_get_issue')).status).to.equal(404);
      expect((await other.call('GET', '/api/v1/tools/github_get_issue')).status).to.equal(200);
      await removeOverlay(server, 'github_get_issue');
    });
  });

  describe('400', () => {
    it('names inputs that the tool does not have', async () => {
      const body = { preset_inputs: { ower: 'acme' }, allowed_values: { label: ['bug'] } };
      expect(await fieldsOf(body)).to.deep.equal(['preset_inputs.ower', 'allowed_values.label']);
    });

    it('names values that the inputs do not accept', async () => {
      expect(await fieldsOf({ preset_inputs: { milestone: 'soon' } })).to.deep.equal(['preset_inputs.milestone']);
      expect(await fieldsOf({ allowed_values: { labels: ['bug', ''] } })).to.deep.equal(['allowed_values.labels[1]']);
      const state = { allowed_values: { state: ['open', 'merged'] } };
      expect(await fieldsOf(state, 'github_list_issues')).to.deep.equal(['allowed_values.state[1]']);
    });

    it('rejects null for an input that must not be null, because it would count as omitted', async () => {
      expect(await fieldsOf({ preset_inputs: { owner: null } })).to.include('preset_inputs.owner');
    });

    it('rejects a preset of an input for a secret, also at any depth', async () => {
      const secret = { type: 'string', format: 'password' };
      const properties = {
        token: { type: 'string', writeOnly: true },
        options: { type: 'object', additionalProperties: false, properties: { pin: secret } },
      };
      const input_schema = { type: 'object', additionalProperties: false, properties };
      await storeTools(server, [ownTool(connector, 'mine_use_secret', { input_schema })]);
      const body = { preset_inputs: { token: 'canary', options: { pin: '1' } } };
      expect(await fieldsOf(body, 'mine_use_secret')).to.deep.equal(['preset_inputs.token', 'preset_inputs.options']);
    });

    it('rejects an input that is both preset and restricted', async () => {
      const body = { preset_inputs: { owner: 'acme' }, allowed_values: { owner: ['acme'] } };
      expect(await fieldsOf(body)).to.deep.equal(['preset_inputs.owner']);
    });

    it('rejects a preset of an input that other inputs refer to', async () => {
      const one = { type: 'integer', description: 'A number.' };
      const input_schema = {
        type: 'object',
        additionalProperties: false,
        properties: { number: one, other: { $ref: '#/properties/number' } },
      };
      await storeTools(server, [ownTool(connector, 'mine_refer', { input_schema })]);
      expect(await fieldsOf({ preset_inputs: { number: 1 } }, 'mine_refer')).to.deep.equal(['preset_inputs.number']);
    });

    it('rejects an overlay without an effect', async () => {
      expect(await fieldsOf({ hidden: false })).to.deep.equal(['body']);
      expect((await set(TOOL, {})).status).to.equal(400);
    });

    it('rejects a new name that is the current one, reserved, or invalid', async () => {
      expect(await fieldsOf({ new_name: TOOL })).to.deep.equal(['new_name']);
      expect(await fieldsOf({ new_name: 'proxy' })).to.deep.equal(['new_name']);
      expect(await fieldsOf({ new_name: 'Report bug' })).to.deep.equal(['new_name']);
    });

    it('rejects invisible characters in texts for models', async () => {
      expect(await fieldsOf({ added_description: 'Good\u200b' })).to.deep.equal(['added_description']);
      expect(await fieldsOf({ title: 'Good\u202e' })).to.deep.equal(['title']);
    });

    it('rejects an overlay that exceeds the size limit', async () => {
      const body = 'x'.repeat(STORED.toolOverlayBytes);
      expect(await fieldsOf({ preset_inputs: { body } })).to.deep.equal(['body']);
    });

    it('rejects an overlay beyond the limit of an environment', async () => {
      const settings = { hidden: true, title: null, addedDescription: null, presetInputs: {}, allowedValues: {} };
      await server.parts.store.write(async (tx) => {
        for (let number = 0; number < STORED.toolOverlays; number++) {
          const times = { createdAt: 1, updatedAt: 1 };
          const row = { toolName: `mine_${number}`, newName: null, settings, toolDigest: 'x', ...times };
          await tx.toolOverlays.set(other.environment.id, row);
        }
      });
      const answer = await other.call('PUT', `${OVERLAYS_PATH}/${TOOL}`, { body: { hidden: true } });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.detail).to.include('has no space');
    });
  });

  describe('404', () => {
    it('rejects an unknown tool', async () => {
      expect((await set('github_do_nothing', { hidden: true })).body.code).to.equal('NOT_FOUND');
    });

    it('rejects the new name that an overlay has given to the tool', async () => {
      await setOverlay(server, TOOL, { new_name: 'report_bug' });
      expect((await set('report_bug', { hidden: true })).status).to.equal(404);
      await removeOverlay(server, TOOL);
    });
  });

  describe('409', () => {
    it('rejects a name that a tool or another overlay has', async () => {
      expect((await set(TOOL, { new_name: 'slack_list_channels' })).body.code).to.equal('TOOL_EXISTS');
      await setOverlay(server, 'github_get_issue', { new_name: 'read_bug' });
      expect((await set(TOOL, { new_name: 'read_bug' })).body.code).to.equal('TOOL_EXISTS');
      await removeOverlay(server, 'github_get_issue');
    });
  });
});
