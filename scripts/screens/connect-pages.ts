import { accessPage } from '../../web/connect/access-page.ts';
import type { PageContext } from '../../web/connect/context.ts';
import type { FieldView } from '../../web/connect/fields.ts';
import { fragmentPage } from '../../web/connect/fragment-page.ts';
import type { Page } from '../../web/connect/layout.ts';
import { type LinkView, linkPage } from '../../web/connect/link-page.ts';
import {
  connectedPage,
  expiredPage,
  faultPage,
  loginOverPage,
  refusalPage,
  refusedPage,
  staleFormPage,
  strayPage,
  usedPage,
  waitingPage,
} from '../../web/connect/message-pages.ts';

const GITHUB = { name: 'GitHub', iconUrl: '/icons/github.svg', isTile: true };
const BACK = { url: 'https://app.contoso.example/' };
const LEAVE = { action: '/connect/x', formToken: '' };

const CONSENT: LinkView = {
  provider: GITHUB,
  formTitle: 'GitHub account',
  help: '',
  keyPage: '',
  identifier: 'ada.lovelace+analytical-engine@widgets-of-the-world.example',
  address: '',
  completion: 'consent',
  scopes: [
    { name: 'Profile', description: 'Read the profile of the signed-in user.', access: 'read' },
    { name: 'Organizations', description: 'Read organization and team membership.', access: 'read' },
    { name: 'Gists', description: 'Make, change and delete gists.', access: 'delete' },
    {
      name: 'Repositories',
      description: 'Read and write code, issues and pull requests of public and private repositories.',
      access: 'delete',
    },
    { name: 'https://provider.example/auth/organization.settings.readwrite.all', description: '', access: 'delete' },
  ],
  fields: [],
  dataLanguage: 'en',
  minutesLeft: 14,
  formToken: '',
};

const text = (over: Partial<FieldView>): FieldView => ({
  name: 'field',
  label: 'Field',
  kind: 'text',
  options: [],
  hint: '',
  required: true,
  pattern: '',
  value: '',
  problem: '',
  ...over,
});

const FORM: LinkView = {
  ...CONSENT,
  provider: { name: 'Stripe', iconUrl: '/icons/stripe.svg', isTile: true },
  keyPage: 'https://dashboard.stripe.com/apikeys',
  formTitle: 'API key',
  help: 'Make a restricted key in the Stripe dashboard under Developers, API keys.',
  completion: 'form',
  scopes: [],
  fields: [
    text({ name: 'domain', label: 'Sub-domain', hint: 'The first part of the address that you sign in at.' }),
    text({ name: 'api_key', label: 'API key', kind: 'password', hint: 'Begins with rk_ or sk_' }),
    text({
      name: 'region',
      label: 'Region',
      kind: 'select',
      options: [
        { value: 'eu', name: 'Europe (eu)' },
        { value: 'us', name: 'United States (us)' },
      ],
      required: false,
    }),
  ],
};

const PROBLEMS: LinkView = {
  ...FORM,
  fields: FORM.fields.map((field): FieldView => {
    if (field.name === 'domain') return { ...field, value: 'Not A Label', problem: 'format' };
    return field.name === 'api_key' ? { ...field, problem: 'not_accepted' } : field;
  }),
};

/** Every page that users of links see, by name. */
export const CONNECT_PAGES: Record<string, (context: PageContext) => Page> = {
  start: (context) => linkPage(context, CONSENT),
  form: (context) => linkPage(context, FORM),
  'form-with-problems': (context) => linkPage(context, PROBLEMS),
  fragment: (context) => fragmentPage(context, { name: 'Acme Boards', iconUrl: '' }),
  waiting: (context) => waitingPage(context),
  connected: (context) => connectedPage(context, BACK),
  expired: (context) => expiredPage(context, BACK),
  used: (context) => usedPage(context, BACK),
  refused: (context) => refusedPage(context, GITHUB, '/connect/x', LEAVE),
  fault: (context) => faultPage(context, 'req_01k6p3x9d8q2v7m4n5t0r1s6wz', '/connect/x', LEAVE),
  stray: (context) => strayPage(context),
  'stale-form': (context) => staleFormPage(context),
  access: (context) =>
    accessPage(context, {
      client: 'Claude',
      verification: { by: 'host', host: 'claude.ai' },
      identifier: 'ada@widgets.example',
      providers: ['GitHub', 'Gmail', 'Notion'],
      callsTools: true,
      returnsTo: '127.0.0.1',
      returnsToComputer: true,
      formToken: '',
    }),
  'login-over': (context) => loginOverPage(context),
  error: (context) => refusalPage(context, 'not_found', 'req_01k6p3x9d8q2v7m4n5t0r1s6wz'),
};
