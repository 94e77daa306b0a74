import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCatalogue, toolFits } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { buildCatalogue } from '../../../scripts/catalogue.ts';
import { noticeOf, toolFile } from '../../../scripts/catalogue-drafts/tool-file.ts';
import { type CatalogueFiles, readCatalogueFiles } from '../../../scripts/catalogue-files.ts';
import { readWords } from '../../../scripts/catalogue-github/words.ts';
import { createCatalogueRules } from '../../../scripts/catalogue-rules.ts';
import type { CatalogueJson } from '../../support/catalogue-json.ts';

const CATALOGUE = new URL('../../../catalogue/', import.meta.url);

const files = await readCatalogueFiles();
const built = await buildCatalogue();
const index = JSON.parse(built.text) as CatalogueJson;
const catalogue = createCatalogue(readCatalogueIndex(built.text));

describe('The catalogue', () => {
  it('satisfies all of its rules', () => {
    expect(built.problems).to.deep.equal([]);
  });

  it('has as many connectors and tools as README says', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
    const withTools = new Set(files.tools.map(({ connector }) => connector));
    expect(withTools.size).to.equal(files.connectors.length);
    expect(readme).to.contain(`${files.tools.length} tools for all ${files.connectors.length} built-in connectors`);
  });

  it('is equal to the generated index', () => {
    expect(readFileSync(new URL('../../../generated/catalogue.json', import.meta.url), 'utf8')).to.equal(built.text);
  });

  it('F14: returns each tool as it was written, parses it when it is first requested, and returns the same each time', () => {
    const read = readCatalogueIndex(built.text);
    expect(read.connectors).to.deep.equal(index.connectors);
    expect([...read.tools.keys()].sort()).to.deep.equal(Object.keys(index.tools).sort());
    for (const [name, tool] of read.tools) expect(JSON.parse(tool.text())).to.deep.equal(index.tools[name]);
    const fresh = createCatalogue(read);
    expect(fresh.peek('github_create_issue')).to.deep.equal(index.tools['github_create_issue']);
    expect(fresh.peek('github_create_issue'), 'not kept').not.to.equal(fresh.peek('github_create_issue'));
    expect(fresh.tool('github_create_issue')).to.equal(fresh.tool('github_create_issue'));
    expect(fresh.peek('github_create_issue')).to.equal(fresh.tool('github_create_issue'));
  });

  it('F14, L7: lists the names of tools without parsing them, for imports', () => {
    const broken = new Map(
      [...readCatalogueIndex(built.text).tools].map(([name, tool]) => [
        name,
        { ...tool, text: () => tool.text().slice(0, -1) },
      ]),
    );
    const fresh = createCatalogue({ connectors: index.connectors, tools: broken });
    expect(fresh.toolNames()).to.have.length(Object.keys(index.tools).length);
    expect(fresh.toolNames('github')).to.include('github_create_issue').and.not.include('gitlab_create_issue');
    expect([fresh.hasTool('github_create_issue'), fresh.hasTool('constructor')]).to.deep.equal([true, false]);
    expect(() => fresh.tool('github_create_issue')).to.throw(SyntaxError);
  });

  it('is written in ASCII, even if its texts contain other characters', () => {
    const beyond = files.tools.filter(({ data }) => /[^\0-\x7f]/.test(JSON.stringify(data.input_schema)));
    expect(beyond).not.to.have.length(0);
    expect(built.text).to.match(/^[\0-\x7f]*$/);
    for (const { data } of beyond) expect(JSON.stringify(index.tools[data.name])).to.match(/[^\0-\x7f]/);
  });

  it('returns the tools of one connector, also if its name is the beginning of another name', () => {
    const expected = Object.values(index.tools).filter((tool) => tool.connector === 'discord_bot');
    expect(catalogue.toolsOf('discord_bot')).to.have.deep.members(expected).and.not.have.length(0);
    expect(catalogue.toolsOf('discord').map(({ connector }) => connector)).to.not.include('discord_bot');
  });

  it('rejects a file that is not an index', () => {
    for (const text of ['', '{}', built.text.slice(0, -1), JSON.stringify(index)]) {
      expect(() => readCatalogueIndex(text)).to.throw('make generate');
    }
  });

  it('finds connectors and tools by name, and does not find inherited properties', () => {
    expect(catalogue.connector('github')?.display_name).to.equal('GitHub');
    expect(catalogue.provider('github')).to.include({ identifier: 'github', isCustom: false });
    expect(catalogue.tool('github_create_issue')?.connector).to.equal('github');
    for (const name of ['constructor', '__proto__', 'toString', 'nothing']) {
      expect([catalogue.connector(name), catalogue.provider(name), catalogue.tool(name)]).to.deep.equal([
        undefined,
        undefined,
        undefined,
      ]);
    }
  });

  it('lists connectors by priority and tools by name', () => {
    const priorities = catalogue.connectors().map((connector) => connector.display_priority);
    expect(priorities).to.deep.equal(priorities.toSorted((a, b) => b - a));
    const names = catalogue.toolNames();
    expect(names).to.deep.equal([...names].sort());
    expect(names).to.have.length(Object.keys(index.tools).length);
  });

  it('filters by connector', () => {
    const connectors = new Set(catalogue.toolsOf('github').map((tool) => tool.connector));
    expect([...connectors]).to.deep.equal(['github']);
    expect(catalogue.toolsOf('nothing')).to.deep.equal([]);
  });

  it('a tool belongs to its own connector; a generic tool works with custom providers', () => {
    const [issue, get] = [index.tools['github_create_issue'], index.tools['http_get']];
    if (!issue || !get) throw new Error('tools are missing');
    expect(toolFits(issue, { identifier: 'github', isCustom: false })).to.equal(true);
    expect(toolFits(issue, { identifier: 'slack', isCustom: false })).to.equal(false);
    expect(toolFits(issue, { identifier: 'acme', isCustom: true })).to.equal(false);
    expect(toolFits({ ...issue, connector: 'acme' }, { identifier: 'acme', isCustom: true })).to.equal(true);
    expect(toolFits({ ...issue, connector: 'acme' }, { identifier: 'other', isCustom: true })).to.equal(false);
    expect(toolFits(get, { identifier: 'acme', isCustom: true })).to.equal(true);
    expect(toolFits(get, { identifier: 'http', isCustom: false })).to.equal(true);
    expect(toolFits(get, { identifier: 'github', isCustom: false })).to.equal(false);
  });
});

describe('The generated tools of GitHub', () => {
  const words = readWords();
  const made = files.tools.filter(({ file }) =>
    readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').startsWith(noticeOf('github/words.yaml')),
  );

  it('are those listed in words.yaml', () => {
    expect(made.map(({ name }) => name)).to.have.members(words.tools.map(({ name }) => name));
  });

  it('are up to date with words.yaml', () => {
    for (const { data: whole } of made) {
      const { search_words: _searchWords, ...data } = whole;
      const said = words.tools.find(({ name }) => name === data.name);
      expect(data).to.include({ title: said?.title, description: said?.description });
      expect(data.hints).to.deep.equal(said?.hints);
      expect(data.scopes).to.deep.equal(words.scopes[said?.scopes ?? '']);
      expect(toolFile(data, 'github/words.yaml')).to.equal(
        readFileSync(new URL(`tools/github/${data.name}.yaml`, CATALOGUE), 'utf8'),
      );
    }
  });
});

describe('The rules of the catalogue', () => {
  const rules = createCatalogueRules(files.schemas);
  const source = {
    connectors: files.connectors.filter(({ name }) => name === 'github'),
    tools: files.tools.filter(({ name }) => name === 'github_list_issues' || name === 'github_create_issue'),
  };
  // biome-ignore lint/suspicious/noExplicitAny: the changes break the types on purpose
  type Breakable = Record<string, any>;
  type Sample = { connector: Breakable; list: Breakable; create: Breakable };

  /** Returns the problems of a catalogue with two tools after a change. */
  function problemsOf(change: (sample: Sample) => void): string {
    const { connectors, tools } = structuredClone(source) as Pick<CatalogueFiles, 'connectors' | 'tools'>;
    const data = (name: string) => tools.find((file) => file.name === name)?.data as unknown as Breakable;
    change({
      connector: connectors[0]?.data as unknown as Breakable,
      list: data('github_list_issues'),
      create: data('github_create_issue'),
    });
    return rules.check({ connectors, tools }).join('\n');
  }

  it('allow another origin than the base address only if the connector names it', () => {
    const other = (names: string[]) =>
      problemsOf(({ connector, list }) => {
        connector['api'].extra_origins = names;
        list['request'].origin = 'https://uploads.github.com';
      });
    expect(other([])).to.include("request.origin: must be one of the provider's extra_origins");
    expect(other(['https://uploads.github.com'])).to.equal('');
  });

  it('accept a valid catalogue', () => {
    expect(problemsOf(() => undefined)).to.equal('');
  });

  const violations: [string, (sample: Sample) => void, string][] = [
    [
      'an unknown member',
      ({ list }) => {
        list['extra'] = 1;
      },
      'extra: unknown field',
    ],
    [
      'a name without its prefix',
      ({ list }) => {
        list['name'] = 'list_issues';
      },
      'must start with github_',
    ],
    [
      'a name of 65 characters',
      ({ list }) => {
        list['name'] = `github_${'x'.repeat(58)}`;
      },
      'must match pattern',
    ],
    [
      "a name that is not its file's",
      ({ list }) => {
        list['name'] = 'github_other';
      },
      'differs from the file',
    ],
    [
      'a name that is used twice',
      ({ list, create }) => {
        list['name'] = create['name'];
      },
      'same name',
    ],
    [
      'a short description',
      ({ list }) => {
        list['description'] = 'Lists issues.';
      },
      'fewer than 40',
    ],
    [
      'a description that is used twice',
      ({ list, create }) => {
        list['description'] = create['description'];
      },
      'same description',
    ],
    [
      'a template variable that is no input',
      ({ list }) => {
        list['request'].path = '/repos/{owner}/{repo}/{number}';
      },
      'use number, which input_schema does not have',
    ],
    [
      'an input that is not used',
      ({ create }) => {
        create['input_schema'].properties.other = { type: 'string', description: 'x' };
      },
      'has other, which no template uses',
    ],
    [
      'an optional input in the path',
      ({ list }) => {
        list['input_schema'].required = ['owner'];
      },
      'repo is part of the path',
    ],
    [
      'a scope that the connector lacks',
      ({ list }) => {
        list['scopes'] = [['nothing']];
      },
      'nothing is not in available_scopes',
    ],
    [
      'an account value that accounts lack',
      ({ create }) => {
        create['request'].body.value.x = { $account: 'sid' };
      },
      'account.sid',
    ],
    [
      'an open object deep inside',
      ({ create }) => {
        create['input_schema'].properties.labels.items = { type: 'object', properties: {} };
      },
      'labels.items: must set additionalProperties to false or to a schema',
    ],
    [
      'a value without a type',
      ({ create }) => {
        create['input_schema'].properties.body = { description: 'x' };
      },
      'body: must have a constraint, such as a type',
    ],
    [
      'a keyword that does not exist',
      ({ create }) => {
        create['input_schema'].properties.body = { type: 'string', maxlength: 1, description: 'x' };
      },
      'unknown keyword',
    ],
    [
      'a reference to elsewhere',
      ({ list }) => {
        list['output_schema'] = { $ref: 'https://example.com/x' };
      },
      'another document',
    ],
    [
      'an output schema that does not compile',
      ({ list }) => {
        list['output_schema'] = { type: 'nothing' };
      },
      'output_schema',
    ],
    [
      'a GET that changes things',
      ({ list }) => {
        list['hints'].read_only = false;
      },
      'GET must be read_only',
    ],
    [
      'a destructive read',
      ({ list }) => {
        list['hints'].destructive = true;
      },
      'must not be destructive',
    ],
    [
      'a GET with a body',
      ({ list }) => {
        list['request'].body = { format: 'json', value: {} };
      },
      'GET has no body',
    ],
    [
      'an example against the schema',
      ({ create }) => {
        create['examples'][0].input.labels = 'bug';
      },
      'tool_input.labels',
    ],
    [
      'an example that gives no address',
      ({ create }) => {
        create['examples'][0].input.repo = '../x';
      },
      'tool_input.repo',
    ],
    [
      'a header that says who calls',
      ({ create }) => {
        create['request'].headers = { Cookie: 'x' };
      },
      'Cookie must not be set',
    ],
    [
      'a directive that does not exist',
      ({ create }) => {
        create['request'].body.value.x = { $inputs: 'title' };
      },
      '$inputs is not a directive',
    ],
    [
      'a stray $item',
      ({ create }) => {
        create['request'].body.value.x = { $item: '' };
      },
      '$item is only allowed in $each',
    ],
    [
      'a file that is no file input',
      ({ create }) => {
        create['request'].body.value.x = { $file: 'title' };
      },
      'is used by $file but is not a file input',
    ],
    [
      'a file input of another shape',
      ({ create }) => {
        create['input_schema'].properties.file = {
          type: 'object',
          format: 'file',
          description: 'A file.',
          additionalProperties: false,
          properties: { data: { type: 'string', description: 'Bytes.' } },
        };
        create['request'].body.value.x = { $file: 'file' };
      },
      'its members must be file_name, mime_type, content_base64, file_id',
    ],
    [
      'its own cursor',
      ({ list }) => {
        list['input_schema'].properties.cursor = { type: 'string', description: 'x' };
      },
      'input_schema.properties',
    ],
    [
      'a plain http address',
      ({ connector }) => {
        connector['api'].base_url = 'http://api.github.com';
      },
      'must match pattern',
    ],
    [
      'an address with an unknown place',
      ({ connector }) => {
        connector['api'].base_url = 'https://{{shop}}.api.github.com';
      },
      '{{shop}} requires a field shop',
    ],
    [
      'two patterns of one type',
      ({ connector }) => {
        connector['auth_patterns'].push({ type: 'OAUTH', display_name: 'x' });
      },
      'is used twice: OAUTH',
    ],
    [
      'a fixed header that says who calls',
      ({ connector }) => {
        connector['api'].headers['Authorization'] = 'x';
      },
      'Authorization cannot be set',
    ],
    [
      'a tool that is named after its verb',
      ({ create }) => {
        create['description'] = 'Reads an issue. Open ones list github_list_issues.';
      },
      'write "github_list_issues returns …"',
    ],
  ];
  for (const [what, change, expected] of violations) {
    it(`find ${what}`, () => {
      expect(problemsOf(change)).to.contain(expected);
    });
  }
});
