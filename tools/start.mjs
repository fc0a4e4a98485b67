// Entry of `npm start`: installs and builds what changed, then becomes the local stack (apps/local) in this same
// process.
import { build, install, requireSupportedPlatform } from './bootstrap.mjs';

requireSupportedPlatform();
install();
build({
  without: ['@holdfast/bench', ...(process.env.HOLDFAST_CONSOLE === 'off' ? ['@holdfast/console'] : [])],
});
await import('../apps/local/dist/main.js');
