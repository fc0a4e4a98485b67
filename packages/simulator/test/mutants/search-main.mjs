// Entry of one search over compiled rooms: prints the first seed that fails and its problems, as JSON.
const [folder, first, last, hours] = process.argv.slice(2);
const { generateScenario } = await import(`${folder}/simulator/src/search/generate.js`);
const { runSearch } = await import(`${folder}/simulator/src/search/run-search.js`);

for (let seed = Number(first); seed <= Number(last); seed += 1) {
  const problems = await problemsOf(seed);
  if (problems.length === 0) continue;
  process.stdout.write(JSON.stringify({ seed, problems }));
  break;
}

/** A broken rule may also show as an error of the code. */
async function problemsOf(seed) {
  try {
    return (await runSearch(generateScenario(seed, { hours: Number(hours) }))).problems;
  } catch (error) {
    return [String(error)];
  }
}
