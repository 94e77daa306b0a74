import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { isStaticType } from '../../../core/authorization/fields.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { checkAuthPatterns } from '../../../core/connectors/check-patterns.ts';

/** Connectors without a page for keys, because they represent any API, or use passwords instead of keys. */
const WITHOUT_KEY_PAGE = ['http', 'servicenow'];

describe('the forms of connectors', () => {
  const text = readFileSync(new URL('../../../generated/catalogue.json', import.meta.url), 'utf8');
  const connectors = Object.values(readCatalogueIndex(text).connectors);

  it('name the page where the credential is made', () => {
    const missing = connectors.flatMap(({ identifier, auth_patterns: patterns }) =>
      patterns.filter(({ type, key_page: page }) => isStaticType(type) && !page).map(() => identifier),
    );
    expect([...new Set(missing)]).to.deep.equal(WITHOUT_KEY_PAGE);
  });

  it('have a label for every choice', () => {
    const unnamed = connectors.flatMap(({ identifier, auth_patterns: patterns }) =>
      patterns
        .flatMap(({ fields = [], account_fields: more = [] }) => [...fields, ...more])
        .flatMap(({ options = [], option_names: names = {} }) => options.filter((option) => !names[option]))
        .map((option) => `${identifier}: ${option}`),
    );
    expect(unnamed).to.deep.equal([]);
  });

  it('have patterns that browsers can check too', () => {
    for (const { identifier, auth_patterns: patterns } of connectors) {
      for (const { pattern } of patterns.flatMap(({ fields = [], account_fields: more = [] }) => [
        ...fields,
        ...more,
      ])) {
        if (pattern !== undefined) expect(() => new RegExp(`^(?:${pattern})$`, 'u'), identifier).not.to.throw();
      }
    }
  });

  it('reject the name of an option that does not exist', () => {
    const field = { field_name: 'region', label: 'Region', input_type: 'select', options: ['eu'] } as const;
    const pattern = (option_names: Record<string, string>) => [
      { type: 'API_KEY' as const, account_fields: [{ ...field, options: [...field.options], option_names }] },
    ];
    expect(checkAuthPatterns(pattern({ eu: 'Europe' }))).to.deep.equal([]);
    expect(checkAuthPatterns(pattern({ us: 'United States' }))).to.deep.equal([
      { field: 'auth_patterns[0].account_fields[0].option_names', message: 'names us, which is not in options' },
    ]);
  });
});
