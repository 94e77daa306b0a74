import { expect } from 'chai';
import { parse } from 'yaml';
import { readCatalogueFiles } from '../../scripts/catalogue-files.ts';
import { createCatalogueRules } from '../../scripts/catalogue-rules.ts';
import { blocksOf, readPage } from './markdown.ts';

const PAGE = readPage('docs/connectors.md');

describe('docs/connectors.md', () => {
  it('shows a connector and tools that pass every rule of the catalogue', async () => {
    const { schemas } = await readCatalogueFiles();
    const { connector, tools, fragment } = readExamples();
    const { identifier } = connector;
    connector.auth_patterns.push({ type: 'OAUTH', display_name: 'Acme account', ...fragment });
    const files = {
      connectors: [{ file: `${identifier}.yaml`, name: identifier, data: connector }],
      tools: tools.map((data) => ({ file: `${data.name}.yaml`, name: data.name, connector: identifier, data })),
    };
    expect(tools).to.have.length(2);
    expect(createCatalogueRules(schemas).check(files)).to.deep.equal([]);
    // The control: the rules notice an error.
    tools[0].request.path = '/tickets{?unknown}';
    expect(createCatalogueRules(schemas).check(files)).not.to.deep.equal([]);
  });

  it('explains every key of the two schemas', async () => {
    const { schemas } = await readCatalogueFiles();
    const keys = new Set([...keysOf(schemas.connector), ...keysOf(schemas.tool)]);
    const explained = new Set([...PAGE.matchAll(/`([A-Za-z0-9_]+)`/g)].map(([, name]) => name));
    const missing = [...keys].filter((key) => !explained.has(key));
    expect(missing).to.deep.equal([]);
  });
});

/** Returns the YAML on the page: a connector, tools of it, and a fragment of an OAuth pattern. */
function readExamples() {
  const yaml = blocksOf(PAGE).filter(({ language }) => language === 'yaml');
  const parsed = yaml.map(({ text }) => parse(text));
  return {
    connector: parsed.find((data) => data.identifier),
    tools: parsed.filter((data) => data.name),
    fragment: parsed.find((data) => data.oauth_config),
  };
}

/**
 * Returns the names of all properties that a schema declares, at any depth, except those of JSON Schema inside
 * `input_schema`.
 */
function keysOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key !== 'properties' || typeof value !== 'object') return key === 'input_schema' ? [] : keysOf(value);
    return Object.entries(value as object).flatMap(([name, inner]) =>
      inner === false ? [] : [name, ...(name === 'input_schema' ? [] : keysOf(inner))],
    );
  });
}
