import { type LinkContext, shownAddress } from '../../core/accounts/links/link-context.ts';
import type { LinkTools } from '../../core/accounts/links/link-tools.ts';
import type { Settled } from '../../core/accounts/links/settle.ts';
import { startConsent } from '../../core/accounts/links/start-consent.ts';
import { submitForm } from '../../core/accounts/links/submit-form.ts';
import { mintToken } from '../../core/accounts/links/tokens.ts';
import { echoOf, formFieldsOf, formTerms, readForm, type Typed } from '../../core/accounts/links/typed-fields.ts';
import { connectedUrl } from '../../core/accounts/links/verify.ts';
import { describedScopes } from '../../core/connections/scopes.ts';
import { FIELD_PREFIX, type FieldView } from '../../web/connect/fields.ts';
import { linkPage } from '../../web/connect/link-page.ts';
import { expiredPage, faultPage, staleFormPage } from '../../web/connect/message-pages.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Pairs } from '../pipeline/query.ts';
import { isFromElsewhere } from '../pipeline/same-origin.ts';
import { flowCookie, readFlowCookie } from './flow-cookie.ts';
import type { PageCall, PageReply } from './pages.ts';

/** The page of a link, and what happens when its form is sent. */
export function createLinkForm({ digester, random }: Pick<LinkTools, 'digester' | 'random'>, tools: LinkTools) {
  /** Only the page itself can know it: it takes the link, the cookie of the browser that was shown the page, and what it asked for. */
  const formToken = (link: LinkContext, linkToken: string, browser: string) =>
    digester.digest('link form', linkToken, browser, formTerms(link));

  return {
    /** Shows the page. A browser without the cookie is given one; it stands for nothing yet. */
    show({ req, environment }: PageCall, link: LinkContext, linkToken: string): PageReply {
      const known = readFlowCookie(req, environment);
      const browser = known ?? mintToken(random);
      const page = pageOf(link, formToken(link, linkToken, browser));
      return { status: 200, page, ...(!known && { cookie: flowCookie(environment, browser) }) };
    },

    async submit(call: PageCall, link: LinkContext, linkToken: string): Promise<PageReply> {
      const { req, environment, cause, requestId } = call;
      const pairs = ((await readBody(req, PAGE_FORM, call.bodyHold)).value ?? {}) as Pairs;
      const browser = readFlowCookie(req, environment);
      const given = Buffer.from(String(pairs['form_token'] ?? ''), 'base64url');
      if (!browser || isFromElsewhere(req) || !digester.equal(given, formToken(link, linkToken, browser))) {
        return { status: 403, page: staleFormPage() };
      }
      const typed = typedIn(pairs);
      const read = readForm(link, typed);
      if (!read.ok) {
        const page = pageOf(link, formToken(link, linkToken, browser), echoOf(link, typed), read.problems);
        return { status: 400, page };
      }
      if (link.completion === 'form') return next(environment, await submitForm(tools, link, read.form, cause));
      const started = await startConsent(tools, link, linkToken, browser, read.form, cause);
      if (started.ok) return { redirect: started.url, cookie: flowCookie(environment, browser) };
      return { status: 502, page: faultPage(requestId, `/connect/${linkToken}`) };
    },
  };
}

function next(environment: Environment, settled: Settled): PageReply {
  if (settled.kind === 'verify') return { redirect: settled.url };
  if (settled.kind === 'connected') return { redirect: connectedUrl(environment) };
  return { status: 410, page: expiredPage() };
}

function pageOf(
  link: LinkContext,
  formToken: Buffer,
  values: Typed = {},
  problems: Readonly<Record<string, string>> = {},
) {
  const { environment, connection, provider, pattern, request, completion } = link;
  return linkPage({
    asker: connection.organizationName || new URL(environment.baseUrl).host,
    provider: provider.displayName,
    formTitle: pattern.display_name ?? '',
    help: pattern.description ?? '',
    identifier: request.identifier,
    address: shownAddress(link) ?? '',
    completion,
    scopes: describedScopes(connection, pattern).map(({ display_name: name, description = '' }) => ({
      name,
      description,
    })),
    fields: formFieldsOf(link).map(
      (field): FieldView => ({
        name: field.field_name,
        label: field.label,
        kind: field.isSecret && field.input_type === 'text' ? 'password' : field.input_type,
        options: field.options ?? [],
        hint: field.hint ?? '',
        required: field.required ?? false,
        value: values[field.field_name] ?? '',
        problem: problems[field.field_name] ?? '',
      }),
    ),
    formToken: formToken.toString('base64url'),
  });
}

/** The entered values, by the provider's field names. A repeated field is ignored, because our pages have each field once. */
function typedIn(pairs: Pairs): Typed {
  const fields = Object.entries(pairs).filter(([name]) => name.startsWith(FIELD_PREFIX));
  const texts = fields.map(([name, value]) => [
    name.slice(FIELD_PREFIX.length),
    typeof value === 'string' ? value : '',
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(texts)) as Typed;
}
