// Tests which parameters have weight decay: every parameter of every variant must be in the table of
// docs/reference/models.md.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/small_model.hpp"
#include "tests/fixtures/fixture.hpp"

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::f32;

namespace {

// The end of a parameter's name tells its role, in every model and block.
struct Lists {
  std::vector<std::string> decaying, left_alone;
};

// The page's table under "Weight decay": the names in a row, and whether they decay.
Lists lists_of_page() {
  std::ifstream page(fixtures_folder() / "../../docs/reference/models.md");
  Lists out;
  bool within = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| Parameters | weight decay |")) within = true;
    else if (!line.starts_with("|")) within = false;
    if (!within || line.starts_with("|---") || line.ends_with("decay |")) continue;
    INFO(line);
    REQUIRE((line.ends_with("| yes |") || line.ends_with("| no |")));
    std::vector<std::string>& list = line.ends_with("| yes |") ? out.decaying : out.left_alone;
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      list.push_back(line.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return out;
}

// Whether the name ends in `end` at a dot. "ffn.project.weight" ends in "project.weight".
bool ends_in(const std::string& name, const std::string& end) { return ("." + name).ends_with("." + end); }

// The longest of the ends that match; empty if none does.
std::string end_of(const std::string& name, const std::vector<std::string>& ends) {
  std::string best;
  for (const std::string& end : ends)
    if (ends_in(name, end) && end.size() > best.size()) best = end;
  return best;
}

// All parameters of all models that change one option of the kind (or an option of a variant): the name, and whether it
// decays.
std::map<std::string, bool> all_parameters() {
  std::map<std::string, bool> out;
  const auto take = [&](std::vector<std::string> assignments, const std::string& kind) {
    assignments.insert(assignments.begin(), "model.kind=" + kind);
    if (kind == "patches") assignments.emplace_back("model.patches.patch=2");
    try {
      const SmallModel m(assignments);
      for (const auto& e : m.weights.parameters.entries()) {
        INFO(e.name);
        const bool decays = e.decay == WeightDecay::yes;
        CHECK(out.try_emplace(e.name, decays).first->second == decays);
      }
    } catch (const Refused&) {
    } catch (const Failed&) {
    }
  };
  const auto chosen = [&](const std::string& key) { // chooses the variant that the option belongs to
    std::vector<std::string> choices;
    for (const FamilyPlace& place : family_places())
      for (const Variant* v : place.family.variants)
        if (place.key != "model.kind" && key.starts_with(full_name(place.family.table, v->name) + "."))
          choices.push_back(place.key + "=" + v->name);
    return choices;
  };
  for (const std::string& kind : find_option("model.kind")->words) {
    std::vector<std::vector<std::string>> bases = {{}};
    if (find_option("model." + kind + ".pooling")) bases.push_back({"model." + kind + ".pooling=context"});
    if (kind == "recurrent") bases.push_back({"recurrent.attention=luong", "recurrent.reach=local_p"});
    take({"attention.projection=latent", "attention.latent.rotary_width=2"}, kind); // an even number
    take({"attention.differential=v1", "attention.head_width=2"}, kind);            // a width that two maps divide
    for (const auto& base : bases) {
      take(base, kind);
      for (const std::string& key : all_keys())
        for (const std::string table : {"model.", "position.", "block.", "attention.", "recurrent."})
          if (key.starts_with(table) && key != "model.kind" && key != "model.width")
            for (const Value& value : test::other_values(*find_option(key))) {
              std::vector<std::string> assignments = base;
              for (const std::string& choice : chosen(key)) assignments.push_back(choice);
              assignments.push_back(key + "=" + value_text(value));
              take(assignments, kind);
            }
    }
  }
  return out;
}

} // namespace

TEST_CASE("every parameter of every variant says whether it decays, and matrices alone do", "[models][decay]") {
  const auto [decaying, left_alone] = lists_of_page();
  const std::map<std::string, bool> parameters = all_parameters();
  CHECK(parameters.size() > 100);
  std::set<std::string> used;
  for (const auto& [name, decays] : parameters) {
    INFO(name << (decays ? " decays" : " doesn't decay")
              << ". A new parameter belongs into docs/reference/models.md's table of weight decay: yes for weights of "
                 "maps and tables");
    const std::string yes = end_of(name, decaying), no = end_of(name, left_alone);
    CHECK(decays == (yes.size() > no.size()));
    CHECK((!yes.empty() || !no.empty()));
    used.insert(decays ? yes : no);
  }
  for (const auto& list : {decaying, left_alone})
    for (const std::string& end : list) {
      INFO("no parameter ends in " << end);
      CHECK(used.contains(end));
    }
}
