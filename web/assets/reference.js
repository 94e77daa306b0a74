import { exampleOf, resolve, typescriptSample } from '/docs/assets/typescript-sample.js';
import { createApiReference } from '/docs/viewer/standalone.esm.js';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** For operations that need one of several optional parameters: the parameter that the form sends by default. */
const SENT = { getConnectedAccountAuth: 'id', getConnectedAccountDetails: 'id', listScopedTools: 'user_id' };

/**
 * Returns the contract with changes for the page: the form shows optional parameters but does not send them; an access
 * token can be pasted; and each operation has a sample in TypeScript.
 */
function forPage({ security, ...contract }) {
  // The common security requirement is moved into the operations. Otherwise the viewer would send a token to operations
  // that need none.
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      operation['x-codeSamples'] = [
        { lang: 'typescript', label: 'TypeScript', source: typescriptSample(contract, path, method) },
      ];
      operation.parameters = (operation.parameters ?? []).map((given) => {
        const parameter = resolve(contract, given);
        return parameter.name === SENT[operation.operationId] ? parameter : hint(parameter);
      });
      fillForm(contract, operation);
      operation.security ??= security;
      if (operation.security?.length === 0) withoutToken.add(`${method.toUpperCase()} ${path}`);
      if (operation.security?.some((one) => 'oauth2' in one)) operation.security.unshift({ token: [] });
    }
  }
  const description = 'An access token of `POST /oauth/token`.';
  contract.components.securitySchemes.token = { type: 'http', scheme: 'bearer', description };
  return contract;
}

/** Disables the example of an optional parameter, because the viewer sends every example that is not disabled. */
function hint(parameter) {
  const { example, ...rest } = parameter;
  if (parameter.required || parameter.in === 'path' || !parameter.schema) return parameter;
  const value = example ?? parameter.schema.example ?? parameter.schema.default ?? '';
  return { ...rest, examples: { default: { value, 'x-disabled': true } } };
}

/** The viewer sends only the required fields of a form, so the fields of the example are marked as required. */
function fillForm(contract, { requestBody }) {
  const form = requestBody?.content?.['application/x-www-form-urlencoded'];
  if (form)
    form.schema = { ...resolve(contract, form.schema), required: Object.keys(exampleOf(contract, requestBody)) };
}

/** The operations that take no access token, such as `POST /oauth/token`. */
const withoutToken = new Set();

/**
 * Removes the token from requests to operations that take none. The viewer sends the token to them, too, but they
 * reject requests that contain a second way to authenticate.
 */
function removeUnwantedToken({ request: { method, url, headers } }) {
  if (withoutToken.has(`${method} ${new URL(url).pathname}`)) headers.delete('authorization');
}

const response = await fetch('/openapi.json');
createApiReference('#content', {
  content: forPage(await response.json()),
  onRequestBuilt: removeUnwantedToken,
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

/** Adds the accessibility features that the viewer lacks, for screen readers and the keyboard. */
function completeViewer() {
  const lacking = (selector) => document.querySelectorAll(selector);
  for (const button of lacking('button.group\\/copy-button:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy the code');
  for (const button of lacking('button[role="none"]')) button.removeAttribute('role');
  for (const editor of lacking('.cm-content:not([aria-label])')) editor.setAttribute('aria-label', 'Body');
  for (const list of lacking('ul.endpoints:not([tabindex])')) list.tabIndex = 0;
}

let isPlanned = false;
new MutationObserver(() => {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    completeViewer();
  });
}).observe(document.body, { childList: true, subtree: true });
