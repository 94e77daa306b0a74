import { exampleOf, resolve, typescriptSample } from '/docs/assets/typescript-sample.js';
import { createApiReference } from '/docs/viewer/standalone.esm.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Returns the contract with changes for the page: parameters that are not required are hints, which are not sent; an
 * access token can be pasted; and each operation has a sample in TypeScript.
 */
function forPage(contract) {
  for (const parameter of Object.values(contract.components.parameters ?? {})) hint(parameter);
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const parameter of item.parameters ?? []) hint(parameter);
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      operation['x-codeSamples'] = [
        { lang: 'typescript', label: 'TypeScript', source: typescriptSample(contract, path, method) },
      ];
      for (const parameter of operation.parameters ?? []) hint(parameter);
      fillForm(contract, operation);
      if (operation.security?.length) operation.security.unshift({ token: [] });
    }
  }
  const description = 'An access token of `POST /oauth/token`.';
  contract.components.securitySchemes.token = { type: 'http', scheme: 'bearer', description };
  return contract;
}

/**
 * The viewer sends the example of every parameter, unless it is an example that is switched off. The `id` of an account is
 * sent, because operations on one account need it or the fields that replace it.
 */
function hint(parameter) {
  if (parameter.required || parameter.in === 'path' || parameter.name === 'id' || !parameter.schema) return;
  const value = parameter.example ?? parameter.schema.example ?? parameter.schema.default ?? '';
  delete parameter.example;
  parameter.examples = { default: { value, 'x-disabled': true } };
}

/** The viewer sends only the required fields of a form, so those of the example are marked as required. */
function fillForm(contract, { requestBody }) {
  const form = requestBody?.content?.['application/x-www-form-urlencoded'];
  if (form)
    form.schema = { ...resolve(contract, form.schema), required: Object.keys(exampleOf(contract, requestBody)) };
}

const response = await fetch('/openapi.json');
createApiReference('#content', {
  content: forPage(await response.json()),
  authentication: { preferredSecurityScheme: 'token' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: {
    ...Object.fromEntries(
      [
        'c',
        'clojure',
        'csharp',
        'dart',
        'fsharp',
        'go',
        'http',
        'java',
        'js',
        'julia',
        'kotlin',
        'node',
        'objc',
        'ocaml',
        'php',
      ]
        .concat(['powershell', 'r', 'ruby', 'rust', 'swift'])
        .map((target) => [target, true]),
    ),
    python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
    shell: ['httpie', 'wget'],
  },
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  documentDownloadType: 'none',
});
