import { expect } from 'chai';
import type { BrandView } from '../../web/connect/context.ts';
import { NO_BRAND } from '../../web/connect/context.ts';
import type { FieldView } from '../../web/connect/fields.ts';
import { type LinkView, linkPage } from '../../web/connect/link-page.ts';
import { badLoginPage, loginOverPage, refusalPage } from '../../web/connect/message-pages.ts';
import { LANGUAGES, type LanguageTag, textsOf } from '../../web/languages/texts.ts';

const BRAND: BrandView = { ...NO_BRAND, application: 'Contoso', homeUrl: 'https://app.contoso.example' };
const REGION: FieldView = {
  name: 'region',
  label: 'Region',
  kind: 'select',
  options: [{ value: 'eu', name: 'Europe' }],
  hint: 'Where the data is.',
  required: true,
  pattern: '',
  value: '',
  problem: 'choice',
};
const LINK: LinkView = {
  provider: { name: 'Acme', iconUrl: '' },
  formTitle: 'API key',
  help: 'Make a key.',
  keyPage: '',
  identifier: 'ada',
  address: '',
  completion: 'form',
  scopes: [],
  fields: [REGION],
  dataLanguage: 'en',
  minutesLeft: 5,
  formToken: '',
};
const SCOPE = { name: 'Files', description: 'Read files.', access: 'read' } as const;

const page = (tag: LanguageTag, view: Partial<LinkView> = {}) =>
  String(linkPage({ texts: textsOf(tag), brand: BRAND }, { ...LINK, ...view }));

describe("texts of a provider's definition", () => {
  for (const text of ['API key', 'Make a key.', 'Region', 'Where the data is.']) {
    it(`are marked as English, from left to right, on an Arabic page: ${text}`, () => {
      expect(page('ar')).to.include(`<bdi lang="en" dir="ltr">${text}</bdi>`);
      expect(page('ar').replaceAll(`<bdi lang="en" dir="ltr">${text}</bdi>`, '')).not.to.include(text);
    });
  }

  it('are marked in choices, which cannot contain elements', () => {
    expect(page('ar')).to.include('<option value="eu" lang="en" dir="ltr">Europe</option>');
  });

  it('are marked in scopes', () => {
    const text = page('ja', { completion: 'consent', fields: [], scopes: [SCOPE] });
    expect(text)
      .to.include('<bdi lang="en" dir="ltr">Files</bdi>')
      .and.include('<bdi lang="en" dir="ltr">Read files.</bdi>');
  });

  it('are not marked on an English page, and if their language is unknown', () => {
    expect(page('en')).not.to.include('lang="en" dir="ltr">R');
    expect(page('ar', { dataLanguage: '' }))
      .to.include('<bdi>Region</bdi>')
      .and.not.include('lang="en"');
  });
});

describe('the form of a link', () => {
  const heading = '<h2><bdi>API key</bdi></h2>';
  const key: FieldView = { ...REGION, name: 'api_key', label: 'API key', kind: 'password', options: [], problem: '' };

  it('names the credential once if its only field has the same name', () => {
    expect(page('en', { help: '', fields: [key] })).not.to.include(heading);
  });

  it('has a heading above an explanation', () => {
    expect(page('en', { fields: [key] })).to.include(heading);
  });

  it('says beside the field, too, what the provider did not accept', () => {
    const text = page('en', { fields: [{ ...key, problem: 'not_accepted' }] });
    expect(text.match(/did not accept this/g)).to.have.lengthOf(2);
    expect(text).to.include('<title>Error: Connect Acme</title>').and.include('aria-invalid="true"');
  });
});

describe('pages without a way to continue', () => {
  const context = { texts: textsOf('en'), brand: BRAND };
  for (const [name, made] of [
    ['a login that is over', loginOverPage(context)],
    ['a login that is rejected', badLoginPage(context, 'redirect_uri is unknown', 'req_1')],
    ['an unknown address', refusalPage(context, 'not_found', 'req_1')],
  ] as const) {
    it(`lead back to the application: ${name}`, () => {
      expect(String(made)).to.include('href="https://app.contoso.example">Back to <bdi>Contoso</bdi></a>');
    });
  }

  for (const tag of Object.keys(LANGUAGES) as LanguageTag[]) {
    it(`say in their title that an address is unknown, in ${tag}`, () => {
      const texts = textsOf(tag);
      const title = texts.plain('error.not_found_title');
      const text = String(refusalPage({ texts, brand: NO_BRAND }, 'not_found', 'req_1'));
      expect(text).to.include(`<title>${title}</title>`).and.include(`<h1>${title}</h1>`);
      expect(String(refusalPage({ texts, brand: NO_BRAND }, 'other', 'req_1'))).not.to.include(title);
    });
  }
});
