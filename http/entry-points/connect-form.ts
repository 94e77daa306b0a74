import {
  type EnteredValues,
  formFieldsOf,
  readForm,
  redisplayableValues,
} from '../../core/accounts/links/entered-fields.ts';
import { type LinkContext, shownAddress } from '../../core/accounts/links/link-context.ts';
import type { LinkDeps } from '../../core/accounts/links/link-deps.ts';
import { errorAddress, type LinkError, returnWithoutAccount } from '../../core/accounts/links/return-address.ts';
import { startConsent } from '../../core/accounts/links/start-consent.ts';
import { submitForm } from '../../core/accounts/links/submit-form.ts';
import { mintToken } from '../../core/accounts/links/tokens.ts';
import { scopeAccess } from '../../core/connections/scope-access.ts';
import { describedScopes } from '../../core/connections/scopes.ts';
import { FIELD_PREFIX, type FieldProblem, type FieldView } from '../../web/connect/fields.ts';
import { linkPage } from '../../web/connect/link-page.ts';
import { expiredPage, faultPage, refusedPage, staleFormPage } from '../../web/connect/message-pages.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Pairs } from '../pipeline/query.ts';
import { isCrossOrigin } from '../pipeline/same-origin.ts';
import { flowCookie, readFlowCookie } from './flow-cookie.ts';
import { linkPageContext, namedContext } from './page-context.ts';
import type { PageCall, PageReply } from './pages.ts';
import { endedReply, isInPopup, linkPath, settledReply } from './popup.ts';
import { markOf } from './provider-mark.ts';
import { leaveLink, linkFormToken } from './return-link.ts';

/** Shows the page of a link, and handles its form. */
export function createLinkForm({ digester, random }: Pick<LinkDeps, 'digester' | 'random'>, deps: LinkDeps) {
  const formToken = (link: LinkContext, linkToken: string, browser: string) =>
    linkFormToken({ digester }, link, linkToken, browser);

  async function cancel(call: PageCall, link: LinkContext, linkToken: string, inPopup: boolean): Promise<PageReply> {
    const request = await returnWithoutAccount(deps, call.environment, link.request.id, call.cause);
    if (request && inPopup) return endedReply(deps, call, request);
    const url = request && errorAddress(request, request.error as LinkError);
    if (url !== undefined) return { redirect: url };
    if (!request) return { status: 410, page: expiredPage(call.context) };
    return { status: 200, page: refusedPage(call.context, markOf(link.provider), linkPath(linkToken, inPopup)) };
  }

  return {
    /** Shows the page. A browser without the flow cookie receives it. The cookie identifies the browser, not a user. */
    show(call: PageCall, link: LinkContext, linkToken: string): PageReply {
      const { req, environment } = call;
      const known = readFlowCookie(req, environment);
      const browser = known ?? mintToken(random);
      const page = pageOf(deps, inLink(call, link), link, formToken(link, linkToken, browser));
      return { status: 200, page, ...(!known && { cookie: flowCookie(environment, browser) }) };
    },

    async submit(call: PageCall, link: LinkContext, linkToken: string): Promise<PageReply> {
      const { req, environment, cause, requestId } = call;
      const inside = inLink(call, link);
      const pairs = ((await readBody(req, PAGE_FORM, call.bodyHold)).value ?? {}) as Pairs;
      const browser = readFlowCookie(req, environment);
      const given = Buffer.from(String(pairs['form_token'] ?? ''), 'base64url');
      if (!browser || isCrossOrigin(req) || !digester.equal(given, formToken(link, linkToken, browser))) {
        return { status: 403, page: staleFormPage(inside.context, linkPath(linkToken, isInPopup(call))) };
      }
      const inPopup = isInPopup(call);
      if (pairs['decision'] === 'cancel') return cancel(inside, link, linkToken, inPopup);
      const entered = enteredValuesIn(pairs);
      const read = readForm(link, entered);
      if (!read.ok) {
        const token = formToken(link, linkToken, browser);
        return {
          status: 400,
          page: pageOf(deps, inside, link, token, redisplayableValues(link, entered), read.problems),
        };
      }
      if (link.completion === 'form') {
        const settled = await submitForm(deps, link, read.form, cause);
        if (settled.kind !== 'not_accepted') return settledReply(deps, inside, settled, inPopup);
        const problems = Object.fromEntries(settled.fields.map((name) => [name, 'not_accepted' as const]));
        const token = formToken(link, linkToken, browser);
        return { status: 400, page: pageOf(deps, inside, link, token, redisplayableValues(link, entered), problems) };
      }
      const started = await startConsent(deps, link, linkToken, { browser, inPopup }, read.form, cause);
      if (started.ok) return { redirect: started.url, cookie: flowCookie(environment, browser) };
      const address = linkPath(linkToken, inPopup);
      const back = leaveLink({ digester }, link, linkToken, browser, address);
      return { status: 502, page: faultPage(inside.context, requestId, address, back) };
    },
  };
}

/** Returns the request with the language and the application of its link. */
export function inLink(call: PageCall, { request, connection }: Pick<LinkContext, 'request' | 'connection'>): PageCall {
  return { ...call, context: linkPageContext(call.context, call.req, request, connection) };
}

function pageOf(
  { catalogue, now }: Pick<LinkDeps, 'catalogue' | 'now'>,
  { context, environment }: PageCall,
  link: LinkContext,
  formToken: Buffer,
  values: EnteredValues = {},
  problems: Readonly<Record<string, FieldProblem>> = {},
) {
  const { connection, provider, pattern, request, completion } = link;
  return linkPage(namedContext(context, environment), {
    provider: markOf(provider),
    formTitle: pattern.display_name ?? '',
    help: pattern.description ?? '',
    keyPage: pattern.key_page ?? '',
    identifier: request.identifier,
    address: shownAddress(link) ?? '',
    completion,
    scopes: describedScopes(connection, pattern).map((entry) => ({
      name: entry.display_name,
      description: entry.description ?? '',
      access: scopeAccess(catalogue, provider.identifier, entry),
    })),
    fields: formFieldsOf(link).map(
      (field): FieldView => ({
        name: field.field_name,
        label: field.label,
        kind: field.isSecret && field.input_type === 'text' ? 'password' : field.input_type,
        options: (field.options ?? []).map((value) => ({ value, name: field.option_names?.[value] ?? value })),
        hint: field.hint ?? '',
        required: field.required ?? false,
        pattern: field.pattern ?? '',
        value: values[field.field_name] ?? '',
        problem: problems[field.field_name] ?? '',
      }),
    ),
    dataLanguage: provider.isCustom ? '' : 'en',
    minutesLeft: Math.max(1, Math.ceil((request.linkExpiresAt - now()) / 60_000)),
    formToken: formToken.toString('base64url'),
  });
}

/** Returns the entered values, by the provider's field names. A repeated field counts as empty; pages send it once. */
function enteredValuesIn(pairs: Pairs): EnteredValues {
  const fields = Object.entries(pairs).filter(([name]) => name.startsWith(FIELD_PREFIX));
  const texts = fields.map(([name, value]) => [
    name.slice(FIELD_PREFIX.length),
    typeof value === 'string' ? value : '',
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(texts)) as EnteredValues;
}
