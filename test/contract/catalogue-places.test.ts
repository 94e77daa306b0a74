import { expect } from 'chai';
import { memberNames, placedInCatalogue } from '../../scripts/catalogue-places.ts';

const FILE = 'catalogue/connectors/acme.yaml';
const TEXT = `identifier: acme
display_nme: Acme
auth_patterns:
  - type: API_KEY
    fields: [{ field_name: key, required: yes }]
`;
const NAMES = memberNames([
  { properties: { display_name: {}, auth_patterns: { items: { properties: { type: {} } } } } },
]);

describe('problems of the catalogue', () => {
  const placed = (problem: string) => placedInCatalogue(`${FILE}: ${problem}`, NAMES, () => TEXT);

  it('have the line and column of the field', () => {
    expect(placed('auth_patterns[0].fields[0].required: must be boolean')).to.equal(
      `${FILE}:5:33: auth_patterns[0].fields[0].required: must be boolean`,
    );
    expect(placed('auth_patterns[0]: the scope x is listed twice')).to.match(/acme\.yaml:4:5: auth_patterns\[0\]: /);
    expect(placed('identifier acme differs from the name')).to.equal(
      `${FILE}:1:1: identifier acme differs from the name`,
    );
  });

  it('have the place of the innermost existing field around a missing one', () => {
    expect(placed('auth_patterns[0].display_name: is required')).to.match(/acme\.yaml:4:5: /);
    expect(placed('display_name: is required')).to.match(/acme\.yaml:1:1: display_name: is required$/);
  });

  it('name the field that an unknown one probably is', () => {
    expect(placed('display_nme: unknown field')).to.match(
      /acme\.yaml:2:1: display_nme: unknown field; did you mean display_name\?$/,
    );
    expect(placed('auth_patterns[0].colour: unknown field')).to.match(/: unknown field$/);
    expect(placedInCatalogue(`${FILE}: titel: unknown field`, ['sites', 'title'], () => TEXT)).to.match(
      /mean title\?$/,
    );
  });

  it('are not changed if they have a place or no file', () => {
    for (const problem of [`${FILE}:3:1: not YAML`, 'catalogue/tools/acme: there is no connector acme'])
      expect(placedInCatalogue(problem, NAMES, () => TEXT)).to.equal(problem);
  });
});
