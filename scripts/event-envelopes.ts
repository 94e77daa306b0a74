import type { Json, JsonObject } from './openapi-document.ts';
import { objectAt } from './openapi-document.ts';

/** The schema of the envelope of every event. */
const ENVELOPE = 'EventEnvelope';
const JSON_TYPE = 'application/json';

/** The envelope in examples. */
const EXAMPLE = {
  id: 'evt_01k6p6a1b2c3d4e5f6g7h8j9km',
  created_at: '2025-10-04T09:15:00.402Z',
  environment_id: 'env_01k6p3v0c2d4e6f8g0h1j3k5m7',
};

/**
 * Puts the data of each event and its example into the envelope. The envelope contains the name of the event, which is
 * the key of the webhook in the root document, so it is added after bundling. Other common parts of webhooks are in
 * `common.yaml`.
 *
 * @param document a bundled contract; without webhooks it is returned unchanged
 */
export function addEventEnvelopes(document: JsonObject): JsonObject {
  const webhooks = Object.entries(objectAt(document, 'webhooks'));
  if (webhooks.length === 0) return document;
  const components = objectAt(document, 'components');
  const { [ENVELOPE]: envelope, ...schemas } = objectAt(components, 'schemas');
  const completed = webhooks.map(([type, item]) => [
    type,
    { post: complete(type, objectAt(item as JsonObject, 'post'), envelope as JsonObject) },
  ]);
  return { ...document, webhooks: Object.fromEntries(completed), components: { ...components, schemas } };
}

function complete(type: string, webhook: JsonObject, envelope: JsonObject): JsonObject {
  const { requestBody, responses = {}, ...described } = webhook;
  const { schema = {}, example = {} } = objectAt(objectAt(requestBody as JsonObject, 'content'), JSON_TYPE);
  const summary = described['summary'] ?? '';
  const value = { ...EXAMPLE, type, data: example };
  const content = {
    schema: envelopeOf(type, schema, summary, envelope),
    examples: { [exampleNameOf(type)]: { summary, value } },
  };
  return { ...described, requestBody: { required: true, content: { [JSON_TYPE]: content } }, responses };
}

function envelopeOf(type: string, data: Json, description: Json, envelope: JsonObject): JsonObject {
  const properties = objectAt(envelope, 'properties');
  const name = { ...objectAt(properties, 'type'), const: type, enum: [type] };
  return { ...envelope, description, properties: { ...properties, type: name, data } };
}

/** Converts a name: `connected_account.created` becomes `connectedAccountCreated`. */
function exampleNameOf(type: string): string {
  return type.replaceAll(/[._]([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
