/**
 * Compiler options of every TypeScript file: of builds (tools/build.mjs), of processes on sources (hooks.mjs) and of tests
 * (jest.config.mjs). Decorator metadata is kept because NestJS reads it at run time.
 *
 * @param {{ tsx?: boolean }} file whether the file holds JSX
 */
export const swcOptions = ({ tsx = false } = {}) => ({
  jsc: {
    parser: { syntax: 'typescript', tsx, decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, react: { runtime: 'automatic' } },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
});
