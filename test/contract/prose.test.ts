import { expect } from 'chai';
import { checkText } from '../../scripts/check-prose.ts';

const found = (file: string, text: string) =>
  checkText(file, text).map(({ line, column, found }) => `${line}:${column} ${found}`);

describe('the prose check', () => {
  it('reports file, line, column, phrase and replacement', () => {
    expect(checkText('core/a.ts', '\n  // Nobody waits.\n')).to.deep.equal([
      {
        file: 'core/a.ts',
        line: 2,
        column: 6,
        found: 'Nobody',
        instead: '"no one", or name the user, client or caller',
      },
    ]);
  });

  it('reads comments and strings of several words, and ignores code', () => {
    expect(found('core/a.ts', "throw new Error('sent at once');\n")).to.deep.equal(['1:23 at once']);
    expect(found('core/a.ts', `const x = \`\${y} is sent at once\`; /* gone at once */`)).to.have.length(2);
    expect(found('core/a.ts', 'const anew = { nobody: 1 }; call("anew", "x.anew");\n')).to.deep.equal([]);
    expect(found('core/a.ts', 'db.run(sql`SELECT anew FROM nobody`); /* `nobody` */\n')).to.deep.equal([]);
  });

  it('finds a phrase that continues on the next line of a comment', () => {
    expect(found('core/a.ts', '/**\n * Sent at\n * once.\n */\n')).to.deep.equal(['2:9 at once']);
    expect(found('core/a.ts', '// Sent at\n// once.\n')).to.deep.equal(['1:9 at once']);
    expect(found('core/a.ts', '// Sent at\nrun();\n// once.\n')).to.deep.equal([]);
  });

  it('reads the titles of tests, and ignores the texts that tests send', () => {
    expect(found('test/a.test.ts', "it('is sent at once', () => { send('do it at once'); });\n")).to.deep.equal([
      '1:13 at once',
    ]);
  });

  it('reads Markdown without code and addresses', () => {
    expect(found('docs/a.md', '# Made anew\n\n`anew` [see](anew.md)\n\n```\nanew\n```\n')).to.deep.equal(['1:8 anew']);
  });

  it('reads descriptions and comments of the contract, and no examples', () => {
    const text =
      'title: Sent at once\nexample: at once\nproperties:\n  a:\n    description: >-\n      Sent at\n      once.\n';
    expect(found('spec/a.yaml', text)).to.deep.equal(['1:13 at once', '6:12 at once']);
    expect(found('spec/a.yaml', '# anew\na: 1\n')).to.deep.equal(['1:3 anew']);
  });

  it('reads comments of migrations, makefiles and shell scripts', () => {
    expect(found('db/migrations/1.sql', '-- made anew\nSELECT 1;\n')).to.deep.equal(['1:9 anew']);
    expect(found('Makefile', 'run: x ## Run it anew\n\techo anew\n')).to.deep.equal(['1:18 anew']);
  });

  it('allows a phrase in a context where its literal meaning is listed', () => {
    expect(found('core/a.ts', '// The DNS answer has two addresses.\n')).to.deep.equal([]);
    expect(found('core/a.ts', '// The answer has two addresses.\n')).to.deep.equal(['1:8 answer']);
    expect(found('core/a.ts', '// There is no token. This is no longer true.\n')).to.deep.equal([]);
    expect(found('core/a.ts', '// This is no token.\n')).to.deep.equal(['1:9 is no']);
  });
});
