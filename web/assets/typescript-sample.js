/** Returns an operation's call with openapi-fetch, with its required parameters and the first example of its body. */
export function typescriptSample(contract, path, method) {
  const operation = contract.paths[path][method];
  const options = {
    ...paramsOf(contract, [...(contract.paths[path].parameters ?? []), ...(operation.parameters ?? [])]),
  };
  const body = exampleOf(contract, operation.requestBody);
  if (body !== undefined) options.body = body;
  const call = `await client.${method.toUpperCase()}('${path}'${Object.keys(options).length ? `, ${literal(options)}` : ''});`;
  return `import createClient from 'openapi-fetch';
import type { paths } from './valetkey.d.ts';

const headers = { Authorization: \`Bearer \${process.env.TOKEN}\` };
const client = createClient<paths>({ baseUrl: '${location.origin}', headers });

const { data, error } = ${call}
`;
}

function paramsOf(contract, parameters) {
  const params = {};
  for (const given of parameters) {
    const { in: place, name, required, example, schema = {} } = resolve(contract, given);
    if (!required) continue;
    params[place] ??= {};
    params[place][name] = example ?? schema.example ?? '…';
  }
  return Object.keys(params).length ? { params } : {};
}

/** Returns the first example of a request body. */
export function exampleOf(contract, requestBody) {
  if (!requestBody) return undefined;
  const [media] = Object.values(resolve(contract, requestBody).content);
  const [first] = Object.values(media.examples ?? {});
  return first ? resolve(contract, first).value : media.example;
}

/** Returns the object that a `$ref` names within the contract; a value without `$ref` is returned unchanged. */
export function resolve(contract, value) {
  if (!value.$ref) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((place, key) => place[key.replaceAll('~1', '/').replaceAll('~0', '~')], contract);
}

/**
 * Returns a value as a literal of TypeScript: keys have quotes only if they need them, and strings have single quotes
 * unless they contain one.
 */
function literal(value) {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:')
    .replace(/"((?:[^"\\]|\\.)*)"/g, (whole, text) =>
      text.includes("'") ? whole : `'${text.replaceAll('\\"', '"')}'`,
    );
}
