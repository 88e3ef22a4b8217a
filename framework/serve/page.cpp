// Texts from the server are put into the page as text, never as HTML.
#include "serve/page.hpp"

#include "document/content_policy.hpp"

namespace encore {
namespace {

constexpr const char* page_style = R"css(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; }
label { display: block; margin: .8rem 0 .2rem; }
select, input, textarea, button { font: inherit; padding: .4rem; box-sizing: border-box; }
select, input, textarea { width: 100%; }
textarea { min-height: 7rem; }
button { margin-top: .8rem; padding: .4rem 1.2rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: rgba(127, 127, 127, .15); padding: .8rem; }
#state { min-height: 1.5em; }
)css";

constexpr const char* page_script = R"js(
'use strict';
const at = id => document.getElementById(id);
const head = () => {
  const fields = {'Content-Type': 'application/json'};
  if (at('token').value) fields.Authorization = 'Bearer ' + at('token').value;
  return fields;
};
const bodies = {
  '/v1/predict': (model, text) => ({model, inputs: text.split('\n')}),
  '/v1/embeddings': (model, text) => ({model, input: text.split('\n')}),
  '/v1/completions': (model, text) => ({model, prompt: text, max_tokens: 64}),
};
let models = [];
const list = (select, values) => select.replaceChildren(...values.map(value => new Option(value, value)));
const show_routes = () => {
  const model = models.find(each => each.id === at('model').value);
  if (model) list(at('route'), model.routes);
};
const load = async () => {
  const answer = await fetch('/v1/models', {headers: head()});
  const json = await answer.json();
  at('token_line').hidden = answer.ok && !at('token').value;
  if (!answer.ok) { at('state').textContent = json.error.message; return; }
  models = json.data;
  list(at('model'), models.map(model => model.id));
  show_routes();
  at('state').textContent = 'ready';
};
const ask = async () => {
  const route = at('route').value, begin = performance.now();
  at('state').textContent = 'asking ...';
  try {
    const answer = await fetch(route, {method: 'POST', headers: head(),
      body: JSON.stringify(bodies[route](at('model').value, at('text').value))});
    const text = await answer.text();
    at('state').textContent = answer.status + ' in ' + (performance.now() - begin).toFixed(1) + ' ms';
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 1); } catch (error) { }
    at('answer').textContent = shown;
  } catch (error) {
    at('state').textContent = 'no answer: ' + error.message;
  }
};
at('model').addEventListener('change', show_routes);
at('token').addEventListener('change', load);
at('ask').addEventListener('click', ask);
// A link may bring its question: /#ask=TEXT. Anyone may have made it, so a person asks.
const linked = () => {
  if (!location.hash.startsWith('#ask=')) return;
  at('text').value = decodeURIComponent(location.hash.slice(5));
  at('state').textContent = 'this text came with the link; Ask sends it to the model';
  at('ask').focus();
};
load().then(linked).catch(error => { at('state').textContent = 'no answer: ' + error.message; });
)js";

std::string page_html() {
  return std::string("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n") +
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Encore</title>\n"
         "<link rel=\"icon\" href=\"data:,\">\n<style>" +
         page_style + "</style>\n</head>\n<body>\n<h1>Ask a model</h1>\n" + R"html(
<div id="token_line" hidden><label for="token">Token</label>
<input id="token" type="password" autocomplete="off"></div>
<label for="model">Model</label><select id="model"></select>
<label for="route">Route</label><select id="route"></select>
<label for="text">Text; each line is one, but for completions</label><textarea id="text"></textarea>
<button id="ask" type="button">Ask</button>
<p id="state" role="status"></p>
<pre id="answer" aria-label="Answer"></pre>
<p><a href="/openapi.json">The routes, for programs</a></p>
)html" + "<script>" +
         page_script + "</script>\n</body>\n</html>\n";
}

}  // namespace

const ServePage& serve_page() {
  static const ServePage page = {
      page_html(), content_policy(page_style, page_script) + "; connect-src 'self'; frame-ancestors 'none'"};
  return page;
}

}  // namespace encore
