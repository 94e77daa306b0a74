import { expect } from 'chai';
import { breaksOfContractRules } from '../../scripts/contract-rules.ts';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { contract } from './contract.ts';

/** Returns the findings after one change of the real contract. */
function findingsAfter(change: (document: Editable) => void): string[] {
  const document = structuredClone(contract);
  change(document as unknown as Editable);
  return breaksOfContractRules(document);
}

const eventTypes = (d: Editable) => d.components.schemas['EventType']?.['enum'] as string[];

/** The parts of the document that the changes below use. */
interface Editable {
  paths: Record<string, Record<string, EditableOperation>>;
  webhooks: Record<string, { post: EditableEvent }>;
  components: { schemas: Record<string, EditableSchema>; parameters: Record<string, JsonObject> };
}
interface EditableEvent extends Record<string, unknown> {
  requestBody: { content: Record<string, { examples?: unknown; schema: { properties: JsonObject } }> };
}
interface EditableOperation extends Record<string, unknown> {
  operationId?: string;
  security?: { oauth2: string[] }[];
  parameters?: unknown[];
  responses: Record<string, unknown>;
  requestBody: { content: Record<string, { examples?: unknown; schema: unknown }> };
}
interface EditableSchema extends Record<string, unknown> {
  properties: Record<string, JsonObject>;
}

const create = (document: Editable) => document.paths['/api/v1/connected_accounts']?.['post'] as EditableOperation;
const schema = (document: Editable, name: string) => document.components.schemas[name] as EditableSchema;

describe('rules of the contract', () => {
  it('find nothing in the current contract', () => {
    expect(findingsAfter(() => {})).to.deep.equal([]);
  });

  it('find an operation without an operationId, and a duplicate name', () => {
    expect(findingsAfter((d) => delete create(d).operationId).join()).to.include('has no operationId');
    expect(findingsAfter((d) => (create(d).operationId = 'executeTool')).join()).to.include('executeTool is taken');
  });

  it('find a default response and a range of statuses', () => {
    for (const status of ['default', '4XX']) {
      const found = findingsAfter((d) => (create(d).responses[status] = { description: 'anything' }));
      expect(found).to.deep.equal([`createConnectedAccount: declares ${status} instead of exact statuses`]);
    }
  });

  it('find an operation without its own security, with two scopes, or with an unknown one', () => {
    expect(findingsAfter((d) => delete create(d).security).join()).to.include('says nothing of security');
    for (const scopes of [[], ['accounts:read', 'accounts:write'], ['accounts:own']]) {
      const found = findingsAfter((d) => (create(d).security = [{ oauth2: scopes }]));
      expect(found.join(), String(scopes)).to.include('exactly one known scope');
    }
  });

  it('find a bearer operation that leaves out a common status', () => {
    for (const status of ['400', '401', '403', '409', '413', '415', '421', '422', '429', '500', '503']) {
      const found = findingsAfter((d) => delete create(d).responses[status]);
      expect(found).to.deep.equal([`createConnectedAccount: does not declare ${status}`]);
    }
  });

  it('find a POST that cannot be retried safely', () => {
    expect(findingsAfter((d) => delete create(d).parameters).join()).to.include('does not take Idempotency-Key');
  });

  it('find a second media type, and a body without an example', () => {
    const content = (d: Editable) => create(d).requestBody.content;
    expect(findingsAfter((d) => (content(d)['text/plain'] = { schema: {} })).join()).to.include('several media types');
    expect(findingsAfter((d) => delete content(d)['application/json']?.examples).join()).to.include('has no example');
  });

  it('find a parameter without description or example', () => {
    for (const [key, finding] of Object.entries({ description: 'not described', example: 'has no example' })) {
      const found = findingsAfter((d) => delete d.components.parameters['SearchQuery']?.[key]);
      expect(found.join()).to.include(finding);
    }
  });

  it('find a property without a description', () => {
    const found = findingsAfter((d) => (schema(d, 'Health').properties['more'] = { type: 'string' }));
    expect(found).to.deep.equal(['/components/schemas/Health: the property more is not described']);
  });

  it('find an object that does not say whether it is closed', () => {
    const found = findingsAfter((d) => delete schema(d, 'Health')['additionalProperties']);
    expect(found).to.deep.equal(['/components/schemas/Health: an object must say additionalProperties']);
  });

  it('find keywords that the validators do not know', () => {
    const words = { nullable: 'nullable is not', example: 'put examples beside', 'x-secrte': 'x-secrte is not known' };
    for (const [word, finding] of Object.entries(words)) {
      expect(findingsAfter((d) => (schema(d, 'Health')[word] = true)).join(), word).to.include(finding);
    }
  });

  it('find a recursive schema, also through another schema', () => {
    const found = findingsAfter((d) => {
      schema(d, 'Health').properties['inner'] = { description: 'x', $ref: '#/components/schemas/Readiness' };
      schema(d, 'Readiness').properties['inner'] = { description: 'x', $ref: '#/components/schemas/Health' };
    });
    expect(found.join()).to.include('Health > Readiness > Health: is recursive');
  });

  it('find a recursive schema in a request, and report nothing else for it', () => {
    const found = findingsAfter((d) => {
      schema(d, 'AuthField').properties['inner'] = { $ref: '#/components/schemas/AuthField' };
    });
    expect(found).to.deep.equal(['ApiKeyPattern > AuthField > AuthField: is recursive']);
  });

  it('find a readOnly property in a request, at any depth', () => {
    const found = findingsAfter((d) => {
      const id = schema(d, 'AuthField').properties['field_name'] as JsonObject;
      id['readOnly'] = true;
    });
    expect(found.join()).to.match(/createCustomProvider\/.*\/field_name: a request has no readOnly property/);
  });

  it('X17: find an object with properties and a schema for all others, which some generators do not support', () => {
    const found = findingsAfter((d) => (schema(d, 'TokenRequest')['additionalProperties'] = { type: 'string' }));
    expect(found.join()).to.include('TokenRequest: an object has either properties or a schema for all others');
  });

  it('X18: find a schema whose name is all capitals, and a constant that is not an enum', () => {
    const named = findingsAfter((d) => (d.components.schemas['API_KEY'] = schema(d, 'Health')));
    expect(named).to.deep.equal(['API_KEY: must be in PascalCase']);
    const single = findingsAfter((d) => delete schema(d, 'ApiKeyPattern').properties['type']?.['enum']);
    expect(single).to.deep.equal(['/components/schemas/ApiKeyPattern/properties/type: say enum beside const']);
  });

  it('X18: find null among the values of an enum', () => {
    const found = findingsAfter((d) => {
      const { properties } = schema(d, 'ReadinessDatabase');
      properties['role'] = { description: 'The role.', type: ['string', 'null'], enum: ['primary', null] };
    });
    expect(found).to.include(
      '/components/schemas/ReadinessDatabase/properties/role: say oneOf with the enum and the type null',
    );
  });

  it('X18: find a union of tagged objects without a discriminator, or with a mapping that omits a branch', () => {
    const finding = 'say a discriminator with propertyName type and a mapping of every value to its branch';
    const without = findingsAfter((d) => delete schema(d, 'AuthPattern')['discriminator']);
    expect(without).to.deep.equal([`/components/schemas/AuthPattern: ${finding}`]);
    const incomplete = findingsAfter((d) => {
      const { mapping } = schema(d, 'AuthPattern')['discriminator'] as { mapping: JsonObject };
      delete mapping['API_KEY'];
    });
    expect(incomplete).to.deep.equal([`/components/schemas/AuthPattern: ${finding}`]);
  });

  it('X19: find a default in the body of a request', () => {
    const change = (d: Editable) => schema(d, 'ExecuteToolRequest').properties['dry_run'] as JsonObject;
    const found = findingsAfter((d) => (change(d)['default'] = false));
    expect(found.join()).to.include('ExecuteToolRequest/properties/dry_run: state the default in the description');
  });

  it('X19: find a default in the body of a response', () => {
    const found = findingsAfter((d) => ((schema(d, 'Health').properties['status'] as JsonObject)['default'] = 'ok'));
    expect(found).to.deep.equal([
      '/components/schemas/Health/properties/status: state the default in the description instead of default',
    ]);
  });

  it('H4: find a text, a list or an open object of a request without an upper bound, also in its parameters', () => {
    const bounds: [string, string, string][] = [
      ['ImportFile', 'content', 'maxLength'],
      ['ImportToolsRequest', 'files', 'maxItems'],
      ['ExecuteToolRequest', 'tool_input', 'maxProperties'],
    ];
    for (const [name, member, bound] of bounds) {
      const found = findingsAfter((d) => delete schema(d, name).properties[member]?.[bound]);
      expect(found.join(), member).to.match(new RegExp(`properties/${member}: has no ${bound}$`));
    }
    const found = findingsAfter((d) => {
      const query = d.components.parameters['SearchQuery'] as JsonObject;
      query['schema'] = { type: 'string', pattern: '^a{2,}$' };
    });
    expect(found).to.deep.equal(['searchConnectedAccounts query: has no maxLength']);
  });

  describe('of events', () => {
    const expired = (d: Editable) => d.webhooks['connected_account.expired'] as { post: EditableEvent };
    const media = (d: Editable) =>
      expired(d).post.requestBody.content['application/json'] as NonNullable<unknown> & {
        examples?: unknown;
        schema: { properties: JsonObject };
      };

    it('find a name that is not of the form resource.verb', () => {
      const found = findingsAfter((d) => (d.webhooks['connectedAccountExpired'] = expired(d)));
      expect(found).to.include('connectedAccountExpired: an event is named resource.verb');
    });

    it('find an event that docs/events.md lacks, and a listed event that is not declared', () => {
      const missing = findingsAfter((d) => eventTypes(d).shift());
      expect(missing.join()).to.match(/^[a-z_]+\.[a-z_]+: is missing in the enum EventType/);
      const unknown = findingsAfter((d) => eventTypes(d).push('moon.rose'));
      expect(unknown).to.deep.equal(['EventType: moon.rose is not declared in spec/webhooks/']);
    });

    it('find an event without a description or an example', () => {
      const undescribed = findingsAfter((d) => delete expired(d).post['description']);
      expect(undescribed).to.deep.equal(['connected_account.expired: needs a summary and a description']);
      const without = findingsAfter((d) => delete media(d).examples);
      expect(without).to.deep.equal(['connected_account.expired: has no example']);
    });

    it('find a subject that may be absent from the data, or that is not a string', () => {
      for (const subject of [undefined, '', '/connected_account', '/connected_account/api_config', '/nowhere']) {
        const found = findingsAfter((d) => (expired(d).post['x-subject'] = subject));
        expect(found.join(), String(subject)).to.include('x-subject must point to a required text in data');
      }
    });

    it('find a secret in the data', () => {
      const found = findingsAfter(
        (d) => (media(d).schema.properties['data'] = { $ref: '#/components/schemas/MagicLink' }),
      );
      expect(found.join()).to.include('connected_account.expired: $.data.link is a secret');
    });
  });
});
