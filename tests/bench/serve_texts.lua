-- The requests of the load generator wrk to `exp serve`: the lines of a file, in turn, one in a request.
-- Called by hand.
--
--     TEXTS=notes.txt wrk -t1 -c32 -d60s --latency -s tests/bench/serve_texts.lua http://127.0.0.1:8080/v1/embeddings
--
-- wrk sends its next request on a connection when the last one is answered, so it finds the load that a
-- server can answer with this number of clients. It costs a tenth of the processor time of the client of
-- serve_load.py, and does not look at the answers.
local key = string.find(wrk.path, "embeddings") and "input" or "inputs"
local bodies, number = {}, 0
for line in io.lines(os.getenv("TEXTS")) do
  local text = line:gsub("\\", "\\\\"):gsub('"', '\\"'):gsub("%c", " ")
  bodies[#bodies + 1] = '{"' .. key .. '":"' .. text .. '","truncate":true}'
end

function request()
  number = number % #bodies + 1
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, bodies[number])
end

function done(summary)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(summary.requests, " answers, ", errors.status, " refused, ", lost, " lost\n")
end
